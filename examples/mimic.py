"""First stays of adults in MIMIC-III, as olatunji.py takes them: from a folder with the tables of PhysioNet.

The folder must hold ADMISSIONS, PATIENTS, DIAGNOSES_ICD, CHARTEVENTS and LABEVENTS, as .csv or .csv.gz. What was
measured are means of the first 24 hours. Scores are taken where the folder has the derived tables of mimic-code: sofa,
sapsii, apsiii, sirs. DuckDB reads the files one by one, however large they are: pip install "shoal[duckdb]".
"""

from pathlib import Path

import duckdb
import pyarrow as pa

DEMOGRAPHICS = {
    "sex": "gender",
    "ethnicity": "ethnicity",
    "marital_status": "marital_status",
    "insurance": "insurance",
    "admission_type": "admission_type",
    "religion": "religion",
    "language": "language",
}
CHARTED = {
    "heart_rate": (211, 220045),
    "systolic": (51, 442, 455, 6701, 220050, 220179),
    "arterial_pressure": (52, 443, 456, 6702, 220052, 220181, 225312),
    "respiratory_rate": (615, 618, 220210, 224690),
    "temperature": (676, 678, 223761, 223762),
    "oxygen_saturation": (646, 220277),
}
FAHRENHEIT = (678, 223761)
LABORATORY = {
    "glucose": (50809, 50931),
    "potassium": (50822, 50971),
    "albumin": (50862,),
    "urea": (51006,),
    "creatinine": (50912,),
    "sodium": (50824, 50983),
    "bicarbonate": (50882,),
    "coagulation": (51237,),
    "oxygen_pressure": (50821,),
    "leukocytes": (51300, 51301),
}
SCORES = ("sofa", "sapsii", "apsiii", "sirs")
DAYS = (1, 2, 3, 5, 8, 14, 21, 30)  # lower ends of the bins of length of stay

_STAYS = """
    CREATE TABLE stays AS
    SELECT a.subject_id AS patient, a.hadm_id AS hadm_id, a.admittime AS admittime, {told},
           date_sub('year', dob, a.admittime) AS age,
           date_diff('hour', a.admittime, a.dischtime) / 24 AS days,
           coalesce(lead(a.admittime) OVER person <= a.dischtime + INTERVAL 30 DAY, false) AS readmission,
           row_number() OVER person AS number
    FROM {admissions} a JOIN {patients} p USING (subject_id)
    WHERE admission_type <> 'NEWBORN'
    WINDOW person AS (PARTITION BY a.subject_id ORDER BY a.admittime)
    QUALIFY number = 1 AND age >= 18
"""
_MEASURED = """
    SELECT e.hadm_id AS hadm_id, CASE {names} END AS name, avg({value}) AS mean
    FROM {events} e JOIN stays USING (hadm_id)
    WHERE itemid IN ({items}) AND valuenum IS NOT NULL AND charttime < admittime + INTERVAL 24 HOUR
    GROUP BY ALL
"""


def stays(folder: Path) -> pa.Table:
    """Return one row for each adult: the first stay, who it was, what was measured, and how it ended."""
    database = duckdb.connect()
    told = ", ".join(f"{theirs} AS {ours}" for ours, theirs in DEMOGRAPHICS.items())
    files = {name: _table(folder, name) for name in ("admissions", "patients")}
    database.execute(_STAYS.format(told=told, **files))
    charted = _measured(_table(folder, "chartevents"), CHARTED, _celsius())
    laboratory = _measured(_table(folder, "labevents"), LABORATORY, "valuenum")
    database.execute(f"CREATE TABLE measured AS PIVOT ({charted} UNION ALL {laboratory}) ON name USING first(mean)")
    scores = {name: _table(folder, name) for name in SCORES if _path(folder, name) is not None}
    joined = " ".join(
        f"LEFT JOIN (SELECT hadm_id, first({name}) AS {name} FROM {table} GROUP BY hadm_id) USING (hadm_id)"
        for name, table in scores.items()
    )
    bins = " + ".join(f"(days >= {least})::INT" for least in DAYS[1:])
    return database.sql(f"""
        SELECT patient, least(age, 90) AS age, {", ".join(DEMOGRAPHICS)}, measured.* EXCLUDE (hadm_id),
               {"".join(f"{name}, " for name in scores)} diagnosis, readmission, 1 + {bins} AS stay
        FROM stays JOIN measured USING (hadm_id) {joined}
        LEFT JOIN (SELECT hadm_id, left(icd9_code, 3) AS diagnosis FROM {_table(folder, "diagnoses_icd")}
                   WHERE seq_num = 1) USING (hadm_id)
        ORDER BY patient
    """).to_arrow_table()


def _measured(events: str, items: dict[str, tuple[int, ...]], value: str) -> str:
    names = " ".join(f"WHEN itemid IN ({_listed(held)}) THEN '{name}'" for name, held in items.items())
    every = _listed(tuple(item for held in items.values() for item in held))
    return _MEASURED.format(names=names, value=value, events=events, items=every)


def _celsius() -> str:
    return f"CASE WHEN itemid IN ({_listed(FAHRENHEIT)}) THEN (valuenum - 32) / 1.8 ELSE valuenum END"


def _listed(items: tuple[int, ...]) -> str:
    return ", ".join(map(str, items))


def _table(folder: Path, name: str) -> str:
    path = _path(folder, name)
    if path is None:
        raise SystemExit(f"'{folder}' has no {name.upper()}.csv or .csv.gz.")
    return f"read_csv('{str(path).replace(chr(39), chr(39) * 2)}')"


def _path(folder: Path, name: str) -> Path | None:
    wanted = {f"{name}.csv", f"{name}.csv.gz"}
    return next((path for path in sorted(folder.iterdir()) if path.name.lower() in wanted), None)
