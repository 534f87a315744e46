"""The C core and the numpy twins against plain Python, and against each other."""

from decimal import Decimal
from fractions import Fraction
from itertools import groupby

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import ShoalError
from shoal.kernels import library, subset_search
from shoal.kernels.cells import CellTexts, split_fields
from shoal.kernels.decimals import decimals
from shoal.kernels.grouping import DIRECT_SPACE, group, group_rows
from shoal.kernels.interning import intern_keys, text_interner
from shoal.kernels.packing import pack
from shoal.kernels.quoting import scan_quotes
from shoal.kernels.ranking import gather_text, sort_text
from shoal.kernels.subset_search import largest_shares
from shoal.kernels.subsets import NONE, Rows, breaches, floor_fraction, largest_share, subset_counts
from shoal.kernels.translation import narrowest, translate

BOTH = pytest.mark.parametrize("kernels", ["c", "numpy"])


def test_the_core_is_installed():
    """Without this a build that leaves the library out would pass: the twins hide it."""
    with library.using("c"):
        assert library.core() is not None


@BOTH
@given(blocks=st.lists(st.lists(st.none() | st.text(max_size=20), max_size=40), max_size=5))
def test_interning_counts_first_appearances(kernels, blocks):
    with library.using(kernels):
        interner = text_interner()
        codes = [interner.add(CellTexts.of(pa.array(block, pa.string()))).tolist() for block in blocks]
        known = list(dict.fromkeys(value for block in blocks for value in block if value is not None))
        assert codes == [[0 if v is None else known.index(v) + 1 for v in block] for block in blocks]
        assert interner.values().to_pylist() == known
        assert len(interner) == len(known)


@BOTH
def test_interning_grows(kernels):
    with library.using(kernels):
        interner = text_interner()
        long = "x" * 100_000
        values = [str(i) for i in range(5000)] + [long, None, "", long]
        codes = interner.add(CellTexts.of(pa.array(values)))
        again = interner.add(CellTexts.of(pa.array(values[::-1])))
        assert codes.tolist() == [*range(1, 5002), 0, 5002, 5001]
        assert again.tolist() == codes.tolist()[::-1]
        assert interner.values().to_pylist() == [*values[:5001], ""]


@BOTH
def test_interning_a_slice(kernels):
    with library.using(kernels):
        block = pa.array([None, "a", "b", None, "a", "c"]).slice(2, 3)
        assert text_interner().add(CellTexts.of(block)).tolist() == [1, 0, 2]


@BOTH
@given(blocks=st.lists(st.lists(st.none() | st.text(max_size=20), max_size=40), max_size=5))
def test_appending_makes_every_cell_an_entry(kernels, blocks):
    with library.using(kernels):
        interner = text_interner()
        interner.add(CellTexts.of(pa.array(["x"])))
        codes = [
            code for block in blocks for code in interner.append(CellTexts.of(pa.array(block, pa.string()))).tolist()
        ]
        cells = [value for block in blocks for value in block]
        present = [value for value in cells if value is not None]
        assert [code > 0 for code in codes] == [value is not None for value in cells]
        assert [code for code in codes if code] == list(range(2, len(present) + 2))
        assert interner.values().to_pylist() == ["x", *present]


@given(p=st.fractions(0, 1, max_denominator=10**9) | st.floats(0, 1).map(Fraction), most=st.integers(1, 60))
def test_a_threshold_in_small_integers(p, most):
    shares = {Fraction(n, d) for d in range(1, most + 1) for n in range(d + 1)}
    assert floor_fraction(p, most) == max(share for share in shares if share <= p)


@BOTH
@given(
    rows=st.lists(st.lists(st.text("ab\r é", max_size=9), min_size=1, max_size=4), max_size=30),
    end=st.sampled_from(["\n", "\r\n"]),
    width=st.integers(1, 4),
)
def test_fields_are_cut_at_separators(kernels, rows, end, width):
    lines = "".join(",".join(row) + end for row in rows)
    expected = [line.removesuffix("\r").split(",") for line in lines.split("\n")[:-1]]
    expected = [row for row in expected if row != [""] or width == 1]
    with library.using(kernels):
        columns = split_fields(lines.encode(), b",", width)
        if any(len(row) != width for row in expected):
            assert columns is None
        else:
            cut = [column.to_arrow().to_pylist() for column in columns]
            assert list(map(list, zip(*cut, strict=True))) == [[cell or None for cell in row] for row in expected]


@BOTH
@given(
    values=st.lists(st.text(max_size=12) | st.sampled_from(["", "\0", "a\0", "x" * 40]), max_size=50),
    cut=st.integers(0, 3),
)
def test_text_is_sorted_by_its_bytes(kernels, values, cut):
    with library.using(kernels):
        array = pa.array(values, pa.large_string())[cut:]
        order = sort_text(array)
        ordered = gather_text(array, order).to_pylist()
    assert sorted(order.tolist()) == list(range(len(array)))
    assert ordered == [array[int(place)].as_py() for place in order]
    assert ordered == sorted(values[cut:], key=str.encode)


@BOTH
@given(keys=st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 5), max_size=60))
def test_interned_keys(kernels, keys):
    with library.using(kernels):
        codes, distinct = intern_keys(np.array(keys, np.uint64))
        known = list(dict.fromkeys(keys))
        assert codes.tolist() == [known.index(key) + 1 for key in keys]
        assert distinct.tolist() == known


@BOTH
def test_many_interned_keys(kernels):
    with library.using(kernels):
        keys = np.random.default_rng(1).permutation(100_000).astype(np.uint64) << np.uint64(30)
        codes, distinct = intern_keys(np.concatenate([keys, keys]))
        assert (distinct == keys).all()
        assert (codes == np.tile(np.arange(1, 100_001), 2)).all()


@BOTH
@pytest.mark.parametrize("into", [np.uint8, np.uint16, np.uint32])
@pytest.mark.parametrize("width", [np.uint8, np.uint16, np.uint32])
def test_translation_between_widths(kernels, into, width):
    with library.using(kernels):
        out = np.empty(4, into)
        translate(np.array([0, 2, 1, 2], width), np.array([200, 0, 1]), out)
        assert out.tolist() == [200, 1, 0, 1]


WRONG = [np.arange(3), np.arange(3, dtype=np.uint64), np.zeros((2, 2), np.uint8), np.zeros(3)]


@BOTH
@pytest.mark.parametrize("codes", WRONG, ids=lambda codes: str(codes.dtype))
def test_codes_of_a_wrong_type_are_refused(kernels, codes):
    """numpy makes 64-bit integers unasked: the C core would read them as something else."""
    with library.using(kernels):
        with pytest.raises(TypeError):
            group_rows([codes], [3], 3)
        with pytest.raises(TypeError):
            translate(codes, np.arange(3), np.empty(3, np.uint8))
        with pytest.raises(TypeError):
            group(np.arange(3))


@BOTH
def test_codes_beyond_their_size_are_refused(kernels):
    with library.using(kernels), pytest.raises(IndexError):
        group_rows([np.array([0, 7], np.uint8)], [3], 2)


@BOTH
def test_every_second_code(kernels):
    """A view that is not contiguous."""
    with library.using(kernels):
        assert group(np.array([1, 0, 1, 0], np.uint64)[::2], 2).counts.tolist() == [2]
        assert group_rows([np.array([1, 0, 1, 0], np.uint8)[::2]], [2], 2).counts.tolist() == [2]


def test_too_many_codes():
    with pytest.raises(OverflowError):
        narrowest(2**32 + 1)


@BOTH
@given(rows=st.lists(st.tuples(st.integers(0, 1), st.integers(0, 299), st.integers(0, 69_999)), max_size=50))
def test_packed_keys_compare_as_rows(kernels, rows):
    with library.using(kernels):
        columns = [np.array([row[j] for row in rows], t) for j, t in enumerate((np.uint8, np.uint16, np.uint32))]
        keys = pack(columns, [2, 300, 70_000]).tolist()
        assert keys == [(a * 300 + b) * 70_000 + c for a, b, c in rows]
        assert sorted(range(len(rows)), key=rows.__getitem__) == sorted(range(len(rows)), key=keys.__getitem__)


def assert_groups(groups, rows):
    """Compare with sorting and counting in plain Python."""
    ordered = sorted(range(len(rows)), key=rows.__getitem__)
    expected = [list(members) for _, members in groupby(ordered, key=rows.__getitem__)]
    assert groups.counts.tolist() == [len(members) for members in expected]
    assert groups.first.tolist() == [members[0] for members in expected]
    ids = [None] * len(rows)
    for number, members in enumerate(expected):
        for member in members:
            ids[member] = number
    assert groups.ids.tolist() == ids


@BOTH
@given(keys=st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 5), max_size=60))
def test_groups_of_wide_keys(kernels, keys):
    with library.using(kernels):
        assert_groups(group(np.array(keys, np.uint64)), keys)


@BOTH
@given(keys=st.lists(st.integers(0, 9), max_size=60))
def test_groups_of_narrow_keys(kernels, keys):
    with library.using(kernels):
        assert_groups(group(np.array(keys, np.uint64), 10), keys)


@BOTH
@given(data=st.data(), columns=st.integers(0, 40), rows=st.integers(0, 12))
def test_groups_of_rows_of_any_width(kernels, data, columns, rows):
    """Forty columns of up to 70,000 codes are 640 bits of key: most tables here need refinement."""
    sizes = data.draw(st.lists(st.sampled_from([1, 2, 300, 70_000]), min_size=columns, max_size=columns))
    table = [
        data.draw(st.lists(st.sampled_from([0, size // 2, size - 1]), min_size=rows, max_size=rows)) for size in sizes
    ]
    with library.using(kernels):
        codes = [np.array(column, narrowest(size)) for column, size in zip(table, sizes, strict=True)]
        assert_groups(group_rows(codes, sizes, rows), list(zip(*table, strict=True)) if table else [()] * rows)


def test_direct_and_hashed_grouping_agree():
    keys = np.random.default_rng(2).integers(0, DIRECT_SPACE, 300_000).astype(np.uint64)
    direct, hashed = group(keys, DIRECT_SPACE), group(keys, 2**64)
    for a, b in zip((direct.ids, direct.counts, direct.first), (hashed.ids, hashed.counts, hashed.first), strict=True):
        assert (a == b).all()


def test_unknown_choice_of_kernels():
    with library.using("fortran"), pytest.raises(ShoalError, match="SHOAL_KERNELS"):  # type: ignore[arg-type]
        library.core()


def test_a_stale_library_is_not_used(tmp_path):
    """An editable install keeps its old library when the source changes."""
    source = tmp_path / "core.c"
    source.write_text("/* another source */")
    with pytest.warns(RuntimeWarning, match="install shoal again"):
        assert library.load(library._library_path(), tmp_path) is None


def test_a_broken_library_is_not_used(tmp_path):
    broken = tmp_path / "core.so"
    broken.write_bytes(b"not a library")
    with pytest.warns(RuntimeWarning, match="cannot be loaded"):
        assert library.load(broken, tmp_path) is None


def test_a_missing_library_is_not_used(tmp_path):
    assert library.load(tmp_path / "none.so", tmp_path) is None


TABLES = st.lists(
    st.lists(st.sampled_from(["", "x", '"x"', '"x,y"', '"x\ny"', '""', '"a""b"', "5", 'a"b']), min_size=1, max_size=4),
    min_size=1,
    max_size=6,
)


@given(
    rows=TABLES,
    cut=st.integers(1, 7),
    end=st.sampled_from(["\n", "\r\n"]),
    last=st.sampled_from(["", "\n", '"', '"x"y']),
)
def test_both_scans_of_quotes_agree(rows, cut, end, last):
    data = (end.join(",".join(row) for row in rows) + last).encode()
    blocks = [data[at : at + cut] for at in range(0, len(data), cut)]
    found = []
    for kernels in ("c", "numpy"):
        with library.using(kernels):
            found.append(scan_quotes(blocks, b",", 4))
    assert (found[0].unclosed, found[0].broken) == (found[1].unclosed, found[1].broken)
    assert found[0].broken is not None or found[0].columns == found[1].columns


@BOTH
@pytest.mark.parametrize(
    ("text", "unclosed", "broken", "columns"),
    [
        ('a,b\n1,"x\n2,y\n', 1, None, set()),
        ('a,b\n1,"x"y\n', None, 1, set()),
        ('a,b\n1,5" pipe\n', None, None, set()),
        ('a,b\n"1",2\n"3",4', None, None, {0}),
        ('"a","b"\n"1","2"\n', None, None, set()),
        ('"a","b"\n"1",2\n', None, None, {0}),
        ('a,b\n"1,5",2\n', None, None, set()),
        ('"a,b"\n"1"\n', None, None, {0}),
        ('a,b\n,1\n"1",2\n', None, None, {0}),
    ],
)
def test_what_quotes_say(kernels, text, unclosed, broken, columns):
    with library.using(kernels):
        found = scan_quotes([text.encode()], b",", 2)
        assert (found.unclosed, found.broken, found.columns) == (unclosed, broken, columns)


written = st.builds(
    lambda digits, places, sign: f"{sign}{Decimal(digits).scaleb(-places):f}",
    st.integers(0, 10**17 - 1) | st.integers(2**53 - 2, 2**53 + 2),
    st.integers(0, 19),
    st.sampled_from(["", "-"]),
)


@BOTH
@given(
    texts=st.lists(written | st.floats(-1e15, 1e15).map(lambda number: f"{number:.17f}"[:19].rstrip(".")), max_size=20)
)
def test_decimals_are_the_nearest_doubles(kernels, texts):
    with library.using(kernels):
        read = decimals(pa.array(texts, pa.large_string()))
    if read is None:
        assert any(len(text.lstrip("-0.").replace(".", "")) > 17 for text in texts)
        return
    assert read.doubles.tolist() == [float(text) for text in texts]
    assert read.faithful.tolist() == [_held(text, float(text)) for text in texts]


def _held(text: str, number: float) -> bool:
    if "." not in text:
        return abs(int(text)) <= 2**53
    unit = Decimal(1).scaleb(Decimal(text).as_tuple().exponent)
    near = abs(Decimal(number) - Decimal(text)) * 2 < unit
    return near and (abs(number) < 2**53 or Decimal(text) == 0)


@BOTH
@pytest.mark.parametrize(
    "text", ["", "-", ".", "5.", "007", "-01.5", "1e5", "+1", "1,5", " 1", "1" * 18, "0." + "0" * 20]
)
def test_what_is_no_plain_decimal(kernels, text):
    with library.using(kernels):
        assert decimals(pa.array(["1", text], pa.large_string())) is None
        assert decimals(pa.array(["1", text, "2"], pa.large_string()).slice(2)).doubles.tolist() == [2.0]


small_tables = st.integers(1, 4).flatmap(
    lambda columns: st.lists(st.tuples(*[st.integers(0, 3)] * columns, st.integers(0, 4)), min_size=1, max_size=12)
)
WEIGHTS = [3, 1, 4, 1, 5]


@BOTH
@given(rows=small_tables, threads=st.sampled_from([1, 2]), apart=st.sampled_from([None, 2]))
def test_counts_over_all_subsets(kernels, rows, threads, apart):
    """Each row belongs to one of five holders; a holder counts once in a group. Code ``apart`` matches nothing."""
    *columns, holders = (np.array(column, np.uint32) for column in zip(*rows, strict=True))
    with library.using(kernels):
        counts = subset_counts(Rows(tuple(columns), holders, np.array(WEIGHTS), (apart,) * len(columns)), threads)
    for subset in range(1 << len(columns)):
        known = [place for place in range(len(columns)) if subset >> place & 1]

        def agree(one, other, known=known):
            same = all(rows[one][place] == rows[other][place] for place in known)
            return one == other or (same and all(rows[one][place] != apart for place in known))

        for one in range(len(rows)):
            persons = {rows[other][-1] for other in range(len(rows)) if agree(one, other)}
            alone = any(rows[one][place] == apart for place in known)
            assert counts[subset, one] == (1 if alone else sum(WEIGHTS[person] for person in persons))


@BOTH
@given(rows=small_tables)
def test_the_subset_that_tells_most(kernels, rows):
    columns = [np.array(column, np.uint8) for column in list(zip(*rows, strict=True))[:-1]]
    everybody = np.arange(len(rows), dtype=np.uint32)
    subsets = np.array([subset for subset in range(1 << len(columns)) if not subset & 1], np.uint32)
    with library.using(kernels):
        counts = subset_counts(Rows.of(columns, np.array([1 + row[-1] for row in rows])))
        best = largest_share(counts, 0, subsets, everybody)
    for row in everybody:
        shares = [Fraction(int(counts[a | 1, row]), int(counts[a, row])) for a in subsets]
        assert best[row] == subsets[shares.index(max(shares))]


@BOTH
@given(
    rows=small_tables,
    p=st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1, 2)]),
    most=st.sampled_from([1, 2, None]),
    empty=st.booleans(),
)
def test_what_breaches(kernels, rows, p, most, empty):
    columns = [np.array(column, np.uint8) for column in list(zip(*rows, strict=True))[:-1]]
    known = (1 << len(columns)) - 2
    with library.using(kernels):
        counts = subset_counts(Rows.of(columns, np.array([1 + row[-1] for row in rows])))
        found = breaches(counts, 0, known, p=p, most=most, empty=empty, threads=2)
    listed = [
        a for a in range(1 << len(columns)) if not a & 1 and (a or empty) and (most is None or a.bit_count() <= most)
    ]
    for row in range(len(rows)):
        telling = {a for a in listed if 1 - Fraction(int(counts[a | 1, row]), int(counts[a, row])) <= p}
        minimal = {a for a in telling if not any(b != a and b & a == b for b in telling)}
        assert found.subsets[row] == len(telling)
        assert found.minimal[row] == len(minimal)
        assert found.smallest[row] == min((a.bit_count() for a in minimal), default=NONE)


@BOTH
@given(rows=small_tables, most=st.sampled_from([1, 2, None]), known=st.integers(1, 15), sensitive=st.integers(1, 15))
def test_the_search_finds_what_counting_finds(kernels, rows, most, known, sensitive):
    columns = [np.array(column, np.uint8) for column in list(zip(*rows, strict=True))[:-1]]
    every = (1 << len(columns)) - 1
    known, sensitive = known & every, sensitive & every
    weights = np.array([1 + row[-1] for row in rows])
    with library.using(kernels):
        counts = subset_counts(Rows.of(columns, weights)).astype(np.int64)
        found = largest_shares(columns, weights, sensitive, known, most=most)
        asked = np.arange(len(rows))[None, :] % 2 == np.arange(len(columns))[:, None] % 2
        some = largest_shares(columns, weights, sensitive, known, most=most, chosen=asked, threads=2)
    assert found.finished
    assert (some.same / some.peers)[asked].tolist() == (found.same / found.peers)[asked].tolist()
    for place in range(len(columns)):
        if not sensitive >> place & 1:
            continue
        allowed = [a for a in range(1, every + 1) if not a & ~known and not a >> place & 1]
        allowed = [a for a in allowed if most is None or a.bit_count() <= most]
        for row in range(len(rows)):
            shares = [Fraction(int(counts[a | 1 << place, row]), int(counts[a, row])) for a in allowed]
            got = Fraction(int(found.same[place, row]), int(found.peers[place, row]))
            assert got == max(shares, default=Fraction(0))
            if shares:
                best = int(found.subset[place, row])
                assert shares[allowed.index(best)] == got
                assert found.at_most[place, row] == float(got)


@pytest.mark.parametrize("seed", range(6))
def test_the_search_finds_what_counting_finds_in_larger_tables(seed):
    """Small tables do not show whether something is left out that is met nowhere else."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, 9)
    drawn = np.stack([rng.integers(0, size, 1500) for size in sizes]).astype(np.uint8)
    drawn[4] = np.minimum(drawn[3], 1)  # a column that follows from another
    distinct, weights = np.unique(drawn, axis=1, return_counts=True)
    rows = Rows.of(list(distinct), weights)
    counts, every = subset_counts(rows), (1 << 9) - 1
    found = largest_shares(rows.columns, weights, every, every, threads=1 + seed % 2)
    for place in range(9):
        subsets = np.array([a for a in range(1, every + 1) if not a >> place & 1], np.uint32)
        best = largest_share(counts, place, subsets, np.arange(len(weights), dtype=np.uint32))
        everybody = np.arange(len(weights))
        same, peers = counts[best | 1 << place, everybody], counts[best, everybody]
        assert (same.astype(np.int64) * found.peers[place] == found.same[place].astype(np.int64) * peers).all()


def test_the_search_on_its_hardest_case():
    """Minimum hitting set: the smallest PPP is 1 / (2 + k − τ), τ the size of the smallest set that hits all others."""
    rng = np.random.default_rng(7)
    for k in (5, 7):
        sets = [set(rng.choice(k, rng.integers(1, 4), replace=False).tolist()) for _ in range(6)]
        hits = [a for a in range(1 << k) if all(any(a >> v & 1 for v in one) for one in sets)]
        smallest = min(a.bit_count() for a in hits)
        table = [([1] * k, 1), ([1] * k, 0)]
        table += [([int(v not in one) for v in range(k)], 0) for one in sets for _ in range(k + 1)]
        table += [([int(v != zero) for v in range(k)], 1) for zero in range(k)]
        columns = [np.array([row[v] for row, _ in table], np.uint8) for v in range(k)]
        columns.append(np.array([value for _, value in table], np.uint8))
        found = largest_shares(columns, np.ones(len(table), np.int64), 1 << k, (1 << k) - 1)
        ppp = 1 - Fraction(int(found.same[k, 0]), int(found.peers[k, 0]))
        assert ppp == Fraction(1, 2 + k - smallest)


def test_a_search_ends_when_its_hook_raises_in_the_middle(monkeypatch, kernels):
    monkeypatch.setattr(subset_search, "POLL", 0.001)
    columns = [np.random.default_rng(9).integers(0, 4, 60_000).astype(np.uint8) for _ in range(14)]
    heard = []

    def hook(done, total):
        heard.append(total)
        if len(heard) == 3:
            raise KeyboardInterrupt

    every = (1 << 14) - 1
    with pytest.raises(KeyboardInterrupt):
        largest_shares(columns, np.ones(60_000, np.int64), every, every, most=9, progress=hook)
    assert len(set(heard)) == 1


def test_a_search_that_is_stopped_is_still_right_about_what_it_says(kernels):
    rng = np.random.default_rng(8)
    columns = [rng.integers(0, 4, 400).astype(np.uint8) for _ in range(10)]
    every, weights = (1 << 10) - 1, np.ones(400, np.int64)
    stopped, whole = (
        largest_shares(columns, weights, every, every, seconds=0),
        largest_shares(columns, weights, every, every),
    )
    assert whole.finished
    assert not stopped.finished
    truth = whole.same / whole.peers
    assert (stopped.same / stopped.peers <= truth).all()
    assert (stopped.at_most >= truth).all()
