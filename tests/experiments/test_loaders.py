"""The paper's files, in small made-up ones of the same shape."""

import os
import pickle

import pandas as pd
import pytest
from experiments.safe_pickle import read_text_frame

from experiments import loaders
from headcount.errors import SourceError


def pairs(table):
    rows = zip(table["user"].to_pylist(), table["item"].to_pylist(), strict=True)
    return sorted({(str(user), item) for user, item in rows if item is not None})


def test_finance(tmp_path):
    file = tmp_path / "raw_analyst_ratings.csv"
    file.write_text(
        ",headline,url,publisher,date,stock\n"
        '0,"Stocks, that\nmove",https://a.example,B,2020-06-05,A\n'
        "1,More,https://b.example,B,2020-06-03,A\n"
        "2,Other,https://c.example,B,2020-06-03,ZX\n"
    )
    assert pairs(loaders.finance(file)) == [("0", "A"), ("1", "A"), ("2", "ZX")]


def test_reddit_words_are_split_at_spaces_and_counted_once(tmp_path):
    file = tmp_path / "clean_askreddit.csv"
    file.write_text(',author,clean_text\n0,ann,"a b  a ,"\n1,bo,b\n2,ann,c\n3,,d\n4,cy,\n')
    expected = [("ann", ","), ("ann", "a"), ("ann", "b"), ("ann", "c"), ("bo", "b")]
    assert pairs(loaders.reddit(file)) == expected


def test_the_reddit_sample_has_the_first_340_authors(tmp_path):
    file = tmp_path / "clean_askreddit.csv"
    rows = [f"author{n % 500},word{n}" for n in range(1000)]
    file.write_text("author,clean_text\n" + "\n".join(rows) + "\n")
    found = pairs(loaders.reddit_sample(file))
    assert {user for user, _ in found} == {f"author{n}" for n in range(340)}
    assert len(found) == 680  # their later posts too


def test_movielens(tmp_path):
    file = tmp_path / "ratings.csv"
    file.write_text("userId,movieId,rating,timestamp\n1,296,5.0,1147880044\n2,296,3.5,1147868817\n")
    assert pairs(loaders.movielens(file)) == [("1", "296"), ("2", "296")]


@pytest.mark.parametrize("consolidated", [False, True])
@pytest.mark.parametrize("protocol", range(2, 6))
def test_wikipedia(tmp_path, protocol, consolidated):
    file = tmp_path / "wikipedia_abstracts.pkl"
    texts = ["The cat's here, the cat.", None, "See https://a.example/b now."]
    frame = pd.DataFrame({"title": ["x", "y", "z"], "abstract_original": texts}, dtype=object)
    frame["number"] = [1, 2, 3]
    frame["title2"] = frame["title"]
    frame.columns = pd.Index(frame.columns, dtype=object)
    if consolidated:
        frame = frame.copy()
    file.write_bytes(pickle.dumps(frame, protocol=protocol))
    first = [("0", word) for word in (",", ".", "The", "cat", "cat's", "here", "the")]
    second = [("2", "."), ("2", "See"), ("2", "now")]
    # An address goes up to the next space, as the paper's preprocessing takes it out.
    assert pairs(loaders.wikipedia(file)) == sorted(first + second)


class Malicious:
    """What pickle would call on loading."""

    def __init__(self, target):
        self._target = target

    def __reduce__(self):
        return os.mkdir, (self._target,)


@pytest.mark.parametrize("hidden", [False, True])
def test_a_pickle_runs_nothing(tmp_path, hidden):
    file, made = tmp_path / "evil.pkl", tmp_path / "made"
    evil = Malicious(str(made))
    payload = pd.DataFrame({"abstract_original": [evil]}, dtype=object) if hidden else evil
    file.write_bytes(pickle.dumps(payload))
    with pytest.raises(SourceError, match="nothing but texts"):
        read_text_frame(file, "abstract_original")
    assert not made.exists()
    pickle.loads(file.read_bytes())  # the file does what it is meant to do
    assert made.exists()


@pytest.mark.parametrize(
    "named",
    [
        b"cbuiltins\neval\n(V1\ntR.",
        b"cos\nsystem\n(Vtrue\ntR.",
        b"cpandas\nread_pickle\n(V/dev/null\ntR.",
        b"cnumpy\nload\n(V/dev/null\ntR.",
        b"cpandas.core.frame\nDataFrame.eval\n(V1\ntR.",
        b"not a pickle at all",
        b"",
    ],
)
def test_what_is_not_on_the_list_is_refused(tmp_path, named):
    file = tmp_path / "evil.pkl"
    file.write_bytes(named)
    with pytest.raises(SourceError, match="nothing but texts"):
        read_text_frame(file, "abstract_original")


class Named:
    """Pickles as a call of something by its name, which need not exist."""

    def __init__(self, module, name, args=(), state=None):
        self.module, self.name, self.args, self.state = module, name, args, state


class NamedPickler(pickle._Pickler):
    def save(self, obj, save_persistent_id=True):
        if not isinstance(obj, Named):
            return super().save(obj, save_persistent_id)
        self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())
        self.save(obj.args)
        self.write(pickle.REDUCE)
        if obj.state is not None:
            self.save(obj.state)
            self.write(pickle.BUILD)
        return None


def test_the_format_of_pandas_1_0(tmp_path):
    """Its block manager has its parts in its state."""

    def objects(elements, shape):
        state = (1, shape, None, False, elements)
        return Named("numpy.core.multiarray", "_reconstruct", (None, (0,), b"b"), state)

    columns = {"data": objects(["a", "abstract_original"], (2,)), "name": None}
    parts = {
        "axes": [Named("pandas.core.indexes.base", "_new_Index", (None, columns)), None],
        "blocks": [{"values": objects([1, 2, "x", "y"], (2, 2)), "mgr_locs": slice(0, 2, 1)}],
    }
    state = ([], [], [], {"0.14.1": parts})
    manager = Named("pandas.core.internals.managers", "BlockManager", (), state)
    frame = Named("pandas.core.frame", "DataFrame", (), {"_data": manager, "_typ": "dataframe"})
    file = tmp_path / "old.pkl"
    with file.open("wb") as out:
        NamedPickler(out, protocol=4).dump(frame)
    assert read_text_frame(file, "abstract_original") == ["x", "y"]


def test_a_frame_without_the_column_is_refused(tmp_path):
    file = tmp_path / "other.pkl"
    file.write_bytes(pickle.dumps(pd.DataFrame({"n": [1, 2]}, dtype=object)))
    with pytest.raises(SourceError, match="abstract_original"):
        read_text_frame(file, "abstract_original")


def test_a_csv_of_another_shape_is_refused(tmp_path):
    file = tmp_path / "ratings.csv"
    file.write_text("a,b\nsecret,2\n")
    with pytest.raises(SourceError, match="columns userId, movieId") as caught:
        loaders.movielens(file)
    assert "secret" not in str(caught.value)
