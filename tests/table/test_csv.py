"""CSV in all its dialects."""

import codecs
import gzip

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import shoal
from shoal.errors import ReadError
from shoal.table.formats import csv as module
from shoal.table.kind import Kind

ROWS = "name;weight;plz\nMüller;71,5;01067\nŠimić „Jo“;80;99999\n;;\n"
EXPECTED = {"name": ["Müller", "Šimić „Jo“", None], "weight": [71.5, 80.0, None], "plz": ["01067", "99999", None]}


def read_text(tmp_path, content, encoding="utf-8", suffix=".csv", **options):
    path = tmp_path / f"data{suffix}"
    path.write_bytes(content.encode(encoding))
    return shoal.read(path, **options)


def values(table):
    return table.to_arrow().to_pydict()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_unicode(tmp_path, encoding):
    table = read_text(tmp_path, ROWS, encoding)
    assert values(table) == EXPECTED
    assert table.source.details["separator"] == ";"
    assert "decimal commas" in table.source.notes[0]


def test_utf16_with_either_mark(tmp_path):
    path = tmp_path / "a.csv"
    for mark, encoding in ((codecs.BOM_UTF16_BE, "utf-16-be"), (codecs.BOM_UTF16_LE, "utf-16-le")):
        path.write_bytes(mark + ROWS.encode(encoding))
        assert values(shoal.read(path)) == EXPECTED


@pytest.mark.parametrize(
    ("encoding", "name"), [("cp1252", "Müller „Jo“ €"), ("cp1252", "Müller"), ("latin-1", "Müller \x81")]
)
def test_single_byte_encodings(tmp_path, encoding, name):
    table = read_text(tmp_path, f"a;b\n{name};1\n", encoding)
    assert values(table)["a"] == [name]
    assert table.source.details["encoding"] == encoding


def test_strange_bytes_far_behind_the_sample(tmp_path):
    """The sample is plain ASCII; a name in CP1252 comes a megabyte later."""
    table = read_text(tmp_path, "a,b\n" + "x,1\n" * 300_000 + "Müller €,2\n", "cp1252")
    assert table["a"].values.to_pylist() == ["Müller €", "x"]
    assert table.source.details["encoding"] == "cp1252"


def test_damaged_utf8_is_not_taken_for_something_else(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("a,b\nMüller,1\n".encode() + b"x,1\n" * 50_000 + b"\xff\xfe,2\n")
    with pytest.raises(ReadError, match="The file is not encoded in utf-"):
        shoal.read(path)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators(tmp_path, separator):
    table = read_text(tmp_path, f"a{separator}b\n1{separator}x y\n2{separator}z\n")
    assert values(table) == {"a": [1, 2], "b": ["x y", "z"]}


def test_a_single_column_keeps_its_missing_values(tmp_path):
    assert values(read_text(tmp_path, "a\n1\n\n3\n")) == {"a": [1, None, 3]}


def test_empty_lines_between_records_are_no_records(tmp_path):
    assert values(read_text(tmp_path, "a,b\n1,x\n\n2,y\n\n")) == {"a": [1, 2], "b": ["x", "y"]}


def test_quoted_newlines_and_quotes(tmp_path):
    table = read_text(tmp_path, 'a,b\n"x\ny, z","say ""hi"""\n"",\n')
    assert values(table) == {"a": ["x\ny, z", ""], "b": ['say "hi"', None]}


def test_returns_alone_end_lines(tmp_path):
    """A file without a single line feed must not be taken for nothing but a header."""
    table = read_text(tmp_path, "a,b\r1,2\r3,4\r")
    assert values(table) == {"a": [1, 3], "b": [2, 4]}
    assert values(read_text(tmp_path, "a,b\r1,2\n3,4\n")) == {"a": [1, 3], "b": [2, 4]}


def test_windows_line_ends(tmp_path):
    assert values(read_text(tmp_path, "a,b\r\n1,x\r\n2,y\r\n")) == {"a": [1, 2], "b": ["x", "y"]}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_an_empty_cell_at_the_very_end(tmp_path, encoding):
    table = read_text(tmp_path, 'a,b\n"ü","1"\n"y",', encoding)
    assert values(table) == {"a": ["ü", "y"], "b": ["1", None]}


def test_no_newline_at_the_end(tmp_path):
    assert values(read_text(tmp_path, "a,b\n1,x\n2,y")) == {"a": [1, 2], "b": ["x", "y"]}


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["0", "-7", "12"], Kind.INTEGER),
        (["01234", "99999"], Kind.TEXT),
        (["1e5", "word"], Kind.TEXT),
        (["1e5", "2e7"], Kind.TEXT),
        (["1e5", "2.5"], Kind.NUMBER),
        (["9223372036854775807"], Kind.INTEGER),
        (["9223372036854775808"], Kind.TEXT),
        (["12345678901234567890", "1.5"], Kind.TEXT),
        (["9007199254740993", "1.5"], Kind.TEXT),
        (["0.1234567890123456789"], Kind.TEXT),
        (["0.30000000000000004", "0.1"], Kind.NUMBER),
        (["0.10000000000000001", "0.5"], Kind.NUMBER),
        (["12345678901.234567", "0.5"], Kind.TEXT),
        (["9007199254740993.0", "0.5"], Kind.TEXT),
        (["1e-400", "0.5"], Kind.TEXT),
        (["250.0", "250.00"], Kind.TEXT),
        (["-0.0", "0.0", "1.5"], Kind.NUMBER),
        (["-0.0", "0.00", "1.5"], Kind.TEXT),
        (["+5", "6"], Kind.TEXT),
        (["1,000", "2"], Kind.TEXT),
        (["1.5", "NA", "2"], Kind.NUMBER),
        (["2024-02-29", ""], Kind.DATE),
        (["2023-02-29"], Kind.TEXT),
        (["2024-02-29 10:00", "2024-02-29T11:30:05.5"], Kind.DATETIME),
        (["2024-02-29 10:00", "2024-02-29T10:00"], Kind.TEXT),
        (["10:00:00"], Kind.TIME),
        (["true", "false"], Kind.BOOLEAN),
        (["TRUE", "FALSE"], Kind.TEXT),
        (["inf", "1.5"], Kind.TEXT),
        (["1e999", "1.5"], Kind.TEXT),
    ],
)
def test_kinds(tmp_path, cells, kind):
    body = "".join(f'"{cell}",x\n' if "," in cell else f"{cell},x\n" for cell in cells)
    assert read_text(tmp_path, "a,b\n" + body)["a"].kind is kind


def test_text_survives(tmp_path):
    cells = ["01234", "1e5", "+4", "1.50", "007", " x ", "NA", "2024-02-30"]
    assert values(read_text(tmp_path, "a\n" + "\n".join(cells)))["a"] == cells


def test_markers_mean_missing_among_numbers_only(tmp_path):
    table = read_text(tmp_path, "a,b\n1,NA\n.,x\nNA,NULL\n3,y\n")
    assert values(table) == {"a": [1, None, None, 3], "b": ["NA", "x", "NULL", "y"]}
    notes = " ".join(table.source.notes)
    assert "'a'" in notes
    assert "'b'" in notes


def test_markers_on_request(tmp_path):
    table = read_text(tmp_path, "a,b\n1,NA\n?,x\n", markers=["NA", "?"])
    assert values(table) == {"a": [1, None], "b": [None, "x"]}


def test_quoted_columns_are_text(tmp_path):
    """R and others quote text and leave numbers bare: a quoted number is meant as text."""
    assert values(read_text(tmp_path, '"id","age"\n"12",34\n"13",35\n')) == {"id": ["12", "13"], "age": [34, 35]}


def test_quoting_everything_says_nothing(tmp_path):
    assert values(read_text(tmp_path, '"id","age"\n"12","34"\n')) == {"id": [12], "age": [34]}


def test_columns_kept_as_text(tmp_path):
    assert values(read_text(tmp_path, "id,age\n12,34\n", text=["id"])) == {"id": ["12"], "age": [34]}


def test_suppressed_is_not_missing(tmp_path):
    table = read_text(tmp_path, "age,x\n34,a\n*,b\n,c\n", suppressed="*")
    column = table["age"]
    assert column.kind is Kind.INTEGER
    assert table.codes("age").tolist() == [0, column.suppressed_code, column.missing_code]
    assert values(table)["age"] == ["34", "*", None]


def test_no_header(tmp_path):
    assert values(read_text(tmp_path, "1,x\n2,y\n", header=False)) == {"column_1": [1, 2], "column_2": ["x", "y"]}


def test_header_of_years(tmp_path):
    assert values(read_text(tmp_path, "land,2023\nA,1\n", header=True)) == {"land": ["A"], "2023": [1]}


def test_nameless_columns(tmp_path):
    text = ",a\n0,x\n1,y\n"
    assert values(read_text(tmp_path, text, unnamed="drop")) == {"a": ["x", "y"]}
    assert values(read_text(tmp_path, text, unnamed="number")) == {"column_1": [0, 1], "a": ["x", "y"]}


@pytest.mark.parametrize("name", ["a.csv.gz", "A.CSV.GZ"])
def test_compressed(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(gzip.compress(b"a,b\n1,x\n"))
    assert values(shoal.read(path)) == {"a": [1], "b": ["x"]}


def test_points_that_may_separate_thousands(tmp_path):
    table = read_text(tmp_path, "n;c\n1.000;5,5\n2.500;6,25\n")
    assert values(table) == {"n": ["1.000", "2.500"], "c": [5.5, 6.25]}
    assert "Points may be thousands separators in 'n', read as text." in table.source.notes


def test_a_column_is_quoted_on_purpose_wherever_it_begins(tmp_path):
    """The first quoted cell comes long after the sample."""
    table = read_text(tmp_path, "a,b\n" + ",x\n" * 60_000 + '"1",x\n"2",y\n')
    assert table["a"].kind is Kind.TEXT


def test_decimal_comma_is_found_per_column(tmp_path):
    table = read_text(tmp_path, "a;b\n1,5;1.5\n2;2.5\n")
    assert values(table) == {"a": [1.5, 2.0], "b": [1.5, 2.5]}


def test_decimal_can_be_said(tmp_path):
    assert values(read_text(tmp_path, 'a,b\n"1,5",x\n', decimal=","))["a"] == [1.5]


def test_blocks_join(tmp_path, monkeypatch, kernels):
    """Blocks of a few bytes: dictionaries of many blocks become one."""
    monkeypatch.setattr(module, "BLOCK", 64)
    rows = [(i, f"v{i % 300}", i * 0.5) for i in range(2000)]
    table = read_text(tmp_path, "a,b,c\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows))
    assert values(table) == {"a": [r[0] for r in rows], "b": [r[1] for r in rows], "c": [r[2] for r in rows]}


FIELD = st.text("ab1.é,-", max_size=4) | st.sampled_from(["NA", "*", "2020-01-31", "12", "0.5"])


@given(
    rows=st.integers(1, 3).flatmap(
        lambda width: st.lists(st.lists(FIELD, min_size=width, max_size=width), max_size=20)
    ),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    ended=st.booleans(),
)
@example(rows=[["", "1", "NA"], ["NA", "2020-01-31", "2020-01-31"], ["", "", ""]], end="\r\n", ended=False)
def test_plain_files_are_cut_as_arrow_reads_them(tmp_path, monkeypatch, rows, end, ended):
    """Files without quotes take a way of their own, which must come to the same."""
    width = len(rows[0]) if rows else 2
    head = end.join([";".join(f"name{n}" for n in range(width)), *(";".join(row) for row in rows)])
    path = tmp_path / "data.csv"
    path.write_bytes((head + end * ended).encode())
    with monkeypatch.context() as patch:
        patch.setattr(module, "BLOCK", 17 if "\n" in end else module.BLOCK)  # Arrow does not like it so small
        plain = shoal.read(path, separator=";")
    with monkeypatch.context() as patch:
        patch.setattr(module._Reader, "_plain", lambda _: None)
        through_arrow = shoal.read(path, separator=";")
    assert values(plain) == values(through_arrow)
    assert plain.source.notes == through_arrow.source.notes
    assert [column.kind for column in plain.columns] == [column.kind for column in through_arrow.columns]


def test_progress_is_told(tmp_path):
    seen = []
    read_text(tmp_path, "a,b\n" + "1,x\n" * 1000, progress=seen.append)
    assert seen[-1].done == 1000
    assert 0.5 < seen[-1].share <= 1


def test_arx_files(shared):
    table = shoal.read(shared / "data/arx-adult/adult.csv")
    assert (table.records, len(table.columns)) == (30_162, 9)
    assert table.source.details["separator"] == ";"


@pytest.mark.parametrize(("name", "distinct"), [("adult", 19_502), ("diabetes", 77_748), ("cervical", 254)])
def test_distinct_rows_of_the_published_datasets(shared, kernels, name, distinct):
    """Kroes 2021, Table 2."""
    table = shoal.read(shared / f"data/kroes/{name}.csv")
    assert len(table.distinct()) == distinct


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        pytest.param(
            '"sex","born","age"\n"f","1958-05-17",66\n"m","1971-01-02",53\n', "text date integer", id="all text"
        ),
        pytest.param('sex,born,age\nf,"1958-05-17",66\nm,"1971-01-02",53\n', "text text integer", id="dates only"),
        pytest.param('"sex","code","age"\n"f","0170",66\n"m","0171",53\n', "text text integer", id="codes stay text"),
    ],
)
def test_quoted_dates_are_dates_in_a_file_that_quotes_all_text(tmp_path, text, kinds):
    """Most programs quote all that is no number; quotes around dates alone mean that they are text."""
    (tmp_path / "t.csv").write_text(text)
    assert [column.kind.value for column in shoal.read(tmp_path / "t.csv").columns] == kinds.split()


def test_a_separator_that_the_file_does_not_use_is_refused(tmp_path):
    """Otherwise the whole line becomes one column, which no role and no rule of a policy recognises."""
    file = tmp_path / "data.csv"
    file.write_text("id,age\n1,34\n2,71\n")
    with pytest.raises(ReadError, match=r"contains no ';', but contains ','") as raised:
        shoal.read(file, separator=";")
    assert raised.value.code == "wrong-separator"
    file.write_text('"weight, kg"\n71\n')
    assert shoal.read(file, separator=";").names == ("weight, kg",)
