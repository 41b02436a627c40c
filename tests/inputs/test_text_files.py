"""CSV and JSON lines: read as text, in a form that is fixed and not guessed."""

import gzip
import json

import pytest

from headcount.errors import SourceError
from tests.inputs.counting import counts


@pytest.fixture
def read(tmp_path):
    def read(content: str | bytes, name: str = "e.csv", **options):
        path = tmp_path / name
        content = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(content) if name.lower().endswith(".gz") else content)
        return counts(path, **options)

    return read


CSV = {
    "newline": ("u,i\n1,a\n2,a\n", {"a": 2}),
    "no last newline": ("u,i\n1,a\n2,a", {"a": 2}),
    "carriage returns": ("u,i\r\n1,a\r\n2,a\r\n", {"a": 2}),
    "byte order mark": ("\ufeffu,i\n1,a\n", {"a": 1}),
    "byte order mark and quotes": ('\ufeff"u","i"\n1,a\n', {"a": 1}),
    "header only": ("u,i\n", {}),
    "header only, no newline": ("u,i", {}),
    "null users and items": ("u,i\n,a\n1,\n2,b\n", {"b": 1}),
    "empty strings are values": ('u,i\n1,""\n"",b\n', {"": 1, "b": 1}),
    "quoted newlines": ('u,i\n1,"a\nb"\n2,"a\r\nb"\n', {"a\nb": 1, "a\r\nb": 1}),
    "quoted quotes and commas": ('u,i\n1,"say ""hi"", x"\n', {'say "hi", x': 1}),
    "a quote within": ('u,i\n1,a"b\n', {'a"b': 1}),
    "spaces are kept": ("u,i\n1, a \n", {" a ": 1}),
    "words for null are text": ("u,i\n1,NULL\n2,NA\n3,nan\n", {"NULL": 1, "NA": 1, "nan": 1}),
    "hash signs are text": ("u,i\n#1,a\n2,#a\n", {"a": 1, "#a": 1}),
    "numbers stay as written": ("u,i\n1,007\n2,7\n3,7.0\n", {"007": 1, "7": 1, "7.0": 1}),
    "dates stay as written": ("u,i\n1,2024-1-1\n2,2024-01-01\n", {"2024-1-1": 1, "2024-01-01": 1}),
    "users as written": ("u,i\n1,a\n01,a\n1.0,a\n", {"a": 3}),
    "blank lines": ("u,i\n1,a\n\n2,a\n\n", {"a": 2}),
    "an index without a name": (",u,i\n0,1,a\n1,2,a\n", {"a": 2}),
    "a newline in the header": ('u,i,"x\ny"\n1,a,b\n', {"a": 1}),
    "nul within": ("u,i\n1,a\0b\n", {"a\0b": 1}),
    "long": (f"u,i\n1,{'x' * 1_000_000}\n", {"x" * 1_000_000: 1}),
}


@pytest.mark.parametrize(("content", "expected"), CSV.values(), ids=CSV.keys())
def test_csv(read, content, expected):
    assert read(content) == expected


@pytest.mark.parametrize("rows", [30_000, 60_000])
def test_csv_is_not_guessed_from_its_first_rows(read, rows):
    content = "u,i\n" + "".join(f"{n},5\n" for n in range(rows)) + 'x,"late, ""text"""\n'
    assert read(content) == {"5": rows, 'late, "text"': 1}


def test_quoted_newlines_in_a_large_file(read):
    content = "u,i\n" + "".join(f'{n},"{"y" * 500}\n{n % 2}"\n' for n in range(40_000))
    assert read(content) == {f"{'y' * 500}\n{n}": 20_000 for n in range(2)}


BAD_CSV = {
    "too few fields": "u,i,x\n1,a,b\n2,c\n",
    "too many fields": "u,i\n1,a\n2,b,c\n",
    "an open quote": 'u,i\n1,"a\n2,b\n',
    "text after a quote": 'u,i\n1,"a"b\n2,c\n',
    "no UTF-8": b"u,i\n1,caf\xe9\n",
    "no UTF-8, later": b"u,i\n" + b"1,a\n" * 9999 + b"1,caf\xe9\n",
    "UTF-16": "u,i\n1,a\n".encode("utf-16"),
    "no header": "\n\nu,i\n1,a\n",
    "only a newline": "\n",
    "a name twice": "u,i,i\n1,2,3\n",
    "a name twice but for case": "u,i,I\n1,2,3\n",
    "another delimiter": "u;i\n1;2\n",
}


@pytest.mark.parametrize("content", BAD_CSV.values(), ids=BAD_CSV.keys())
def test_bad_csv(read, content):
    with pytest.raises(SourceError):
        read(content)


def test_tsv(read):
    assert read("u\ti\n1\ta,b\n2\ta,b\n", "e.tsv") == {"a,b": 2}


@pytest.mark.parametrize("name", ["e.csv.gz", "E.CSV.GZ"])
def test_compressed_csv(read, name):
    assert read("u,i\n1,a\n2,a\n", name) == {"a": 2}


@pytest.mark.parametrize(
    "content",
    [
        b"\x1f\x8bgarbage garbage",
        b"u,i\n1,a\n",
        gzip.compress(b"u,i\n" + bytes(range(32, 127)) * 99)[:-30],
        gzip.compress(b""),
    ],
    ids=["garbage", "not compressed", "cut short", "nothing within"],
)
def test_bad_compressed_csv(tmp_path, content):
    path = tmp_path / "e.csv.gz"
    path.write_bytes(content)
    with pytest.raises(SourceError):
        counts(path)


JSON = {
    "newline": ('{"u":1,"i":"a"}\n{"u":2,"i":"a"}\n', {"a": 2}),
    "carriage returns": ('{"u":1,"i":"a"}\r\n{"u":2,"i":"a"}\r\n', {"a": 2}),
    "no last newline": ('{"u":1,"i":"a"}', {"a": 1}),
    "null and missing": ('{"u":1,"i":null}\n{"u":null,"i":"a"}\n{"u":2}\n{"i":"b"}\n', {}),
    "an empty string": ('{"u":1,"i":""}\n', {"": 1}),
    "words for null are text": ('{"u":1,"i":"null"}\n', {"null": 1}),
    "numbers keep their digits": ('{"u":1,"i":9007199254740993}\n', {"9007199254740993": 1}),
    "types may differ": ('{"u":1,"i":1}\n{"u":"x","i":true}\n', {"1": 1, "true": 1}),
    "dates stay as written": ('{"u":1,"i":"2024-01-01T00:00:00Z"}\n', {"2024-01-01T00:00:00Z": 1}),
    "escapes": ('{"u":1,"i":"\\u00e9\\n\\u0000\\ud83d\\ude00"}\n', {"é\n\0😀": 1}),
    "blank lines": ('\n{"u":1,"i":"a"}\n\n{"u":2,"i":"a"}\n', {"a": 2}),
    "a later key is no column": ('{"u":1,"i":"a"}\n{"u":2,"i":"a","x":1}\n', {"a": 2}),
    "a key without a name": ('{"u":1,"i":"a","":3}\n', {"a": 1}),
    "keys that differ in case": ('{"U":1,"u":2,"i":"a","I":3}\n{"I":"b","u":1,"i":"a"}', {"a": 2}),
    "a carriage return within": ('{"u":1,\r"i":"a"}\n', {"a": 1}),
    "a number of many digits": (f'{{"u":{"1" * 5000},"i":"a"}}\n', {"a": 1}),
    "long": (json.dumps({"u": 1, "i": "x" * 1_000_000}), {"x" * 1_000_000: 1}),
}


@pytest.mark.parametrize(("content", "expected"), JSON.values(), ids=JSON.keys())
@pytest.mark.parametrize("name", ["e.jsonl", "e.json.gz"])
def test_json_lines(read, content, expected, name):
    assert read(content, name) == expected


BAD_JSON = {
    "an array": '[{"u":1,"i":"a"}]\n',
    "over several lines": '{\n"u": 1,\n"i": "a"\n}\n',
    "a number": "1\n",
    "an empty object": "{}\n",
    "two on a line": '{"u":1,"i":"a"}{"u":2,"i":"b"}\n',
    "byte order mark": '\ufeff{"u":1,"i":"a"}\n',
    "carriage returns alone": '{"u":1,"i":"a"}\r{"u":2,"i":"a"}\r',
    "only spaces": "  \n",
}


@pytest.mark.parametrize("content", BAD_JSON.values(), ids=BAD_JSON.keys())
def test_bad_json_lines(read, content):
    with pytest.raises(SourceError):
        read(content, "e.jsonl")


def test_a_key_of_one_row_only_is_not_told(read):
    with pytest.raises(SourceError) as caught:
        read('{"u":1,"i":"a"}\n{"u":2,"i":"a","canary":1}\n', "e.jsonl", item="absent")
    assert "canary" not in str(caught.value)
    assert "'u', 'i'" in str(caught.value)
