"""Long work is limited in number and time, and stops when its client disconnects."""

import asyncio
import threading
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from sketchforest import RandomForestClassifier
from sketchforest.datasets import make_multilabel
from sketchforest.serve import highlights
from sketchforest.serve.app import _http_error
from sketchforest.serve.executor import BoundedExecutor
from sketchforest.serve.limits import Deadline
from sketchforest.serve.responses import RequestError
from sketchforest.serve.served_model import MAX_EXPLAINED, MAX_MARKED, ModelSource, ServedModel

LONG = "How long does soup keep in the fridge? " * 2000


class Client:
    """A complete request, whose client may disconnect."""

    def __init__(self):
        self.has_left = asyncio.Event()

    async def receive(self):
        await self.has_left.wait()
        return {"type": "http.disconnect"}


class Work:
    """Run until allowed to end, or until the deadline."""

    def __init__(self):
        self.deadline, self.has_begun = Deadline(), threading.Event()
        self.may_end, self.was_stopped = threading.Event(), threading.Event()

    def __call__(self):
        self.has_begun.set()
        while not self.may_end.wait(0.01):
            try:
                self.deadline.check("nothing")
            except RequestError:
                self.was_stopped.set()
                raise
        return b"answer"


async def until(event):
    assert await asyncio.to_thread(event.wait, 20)


def test_requests_beyond_the_queue_limit_are_rejected():
    async def run():
        executor, works = BoundedExecutor("test", 1, 2), [Work() for _ in range(4)]
        tasks = []
        for work in works[:3]:
            tasks.append(asyncio.create_task(executor.run(Client(), work.deadline, work)))
            await asyncio.sleep(0.01)
        await until(works[0].has_begun)
        with pytest.raises(RequestError, match="try again later") as found:
            await executor.run(Client(), works[3].deadline, works[3])
        assert found.value.status_code == 503
        for work in works:
            work.may_end.set()
        assert await asyncio.gather(*tasks) == [b"answer"] * 3
        assert await executor.run(Client(), works[3].deadline, works[3]) == b"answer"

    asyncio.run(run())


def test_work_is_stopped_or_dropped_when_its_client_disconnects():
    async def run():
        executor, first, second, third = BoundedExecutor("test", 1, 2), Work(), Work(), Work()
        clients = [Client(), Client()]
        tasks = [
            asyncio.create_task(executor.run(client, work.deadline, work))
            for client, work in zip(clients, (first, second), strict=True)
        ]
        await until(first.has_begun)
        for client in reversed(clients):
            client.has_left.set()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert [error.status_code for error in found] == [400, 400]
        await until(first.was_stopped)
        third.may_end.set()
        assert await executor.run(Client(), third.deadline, third) == b"answer"
        assert not second.has_begun.is_set()

    asyncio.run(run())


def test_work_is_stopped_when_its_request_is_cancelled():
    async def run():
        executor, work = BoundedExecutor("test", 1, 2), Work()
        task = asyncio.create_task(executor.run(Client(), work.deadline, work))
        await until(work.has_begun)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(work.was_stopped)

    asyncio.run(run())


def test_a_503_says_when_to_retry():
    response = asyncio.run(_http_error(None, RequestError(503, "later.")))
    assert response.headers["retry-after"] == "1"


@pytest.fixture(scope="module")
def served(models):
    return ServedModel.load(ModelSource("questions", models["questions"]))


def test_a_text_is_tokenized_once_for_all_explained_labels(served, monkeypatch):
    calls = []
    tokens = highlights._tokenize
    monkeypatch.setattr(
        highlights, "_tokenize", lambda *given: calls.append(given) or tokens(*given)
    )
    assert len(served.explain(LONG, None, 11, 2)["labels"]) == 11
    assert len(calls) == 1


def test_highlighting_stops_at_marked_until(served):
    for k in (1, 4):
        answer = served.explain(2 * LONG, None, k, 0)
        end = MAX_MARKED // k
        assert answer["marked_until"] == {"question": end}
        ends = [word["end"] for label in answer["labels"] for word in label["words"]["question"]]
        assert end - 50 < max(ends) <= end
    assert "marked_until" not in served.explain("How long does soup keep?", None, 4, 0)


def test_texts_too_long_to_explain_are_rejected(served):
    with pytest.raises(RequestError, match="at most 200,000 characters of text"):
        served.explain("a" * (MAX_EXPLAINED + 1), None, 1, 0)
    assert served.suggest(["a" * (MAX_EXPLAINED + 1)], 1)


def test_labels_are_explained_together_as_one_by_one(served):
    whole = served.explain("cake and soup", None, 11, 3)
    for label in whole["labels"]:
        alone = served.explain("cake and soup", [label["label"]], 1, 3)
        assert alone["labels"][0]["score"] == pytest.approx(label["score"])
        words = alone["labels"][0]["words"]
        assert [{n: pytest.approx(v) for n, v in word.items()} for word in words["question"]] == (
            label["words"]["question"]
        )
        assert alone["similar"] == whole["similar"]


@pytest.mark.parametrize("name", ["questions", "matrix", "posts"])
def test_nothing_is_computed_lazily_after_loading(models, name):
    served = ServedModel.load(ModelSource(name, models[name]))
    parts = [
        served.model,
        served.model.fitted_.predictor,
        served.model.fitted_.forest,
        served.reader,
        served.reader.fields,
    ]
    before = [set(vars(part)) for part in parts]
    row = (
        {"word1": 1} if name == "matrix" else dict.fromkeys(served.reader.encoder.text_columns, "a")
    )
    served.suggest([row] * 70, 3)
    assert [set(vars(part)) for part in parts] == before


def test_memory_does_not_depend_on_the_declared_number_of_features(tmp_path):
    data = make_multilabel(80, 60, 8, labels_per_row=2, features_per_row=6, random_state=0)
    forest = RandomForestClassifier(20, random_state=0).fit(data.X, data.Y)
    [expected] = forest.suggest(np.eye(1, 60, 3), k=8)
    claimed = 10_000_000
    forest._publish(replace(forest.fitted_, n_features=claimed))
    forest.save(tmp_path / "model.sf")
    tracemalloc.start()
    served = ServedModel.load(ModelSource("model", tmp_path / "model.sf"))
    about = served.info(full=True)
    [labels] = served.suggest([{"3": 1, "9999999": 2.0}], 8)
    with pytest.raises(RequestError, match=r"'03'; the fields are '0', .* 9,999,992 more"):
        served.suggest([{"03": 1}], 8)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6
    assert about["n_fields"] == claimed
    assert len(about["fields"]) == 100
    assert [label["score"] for label in labels] == pytest.approx([s for _, s in expected], abs=1e-6)


def test_texts_with_too_many_terms_are_rejected(served, monkeypatch):
    monkeypatch.setattr(served.model.vectorizer_, "ngram_range", (1, 100))
    with pytest.raises(RequestError, match="at most 100,000 characters"):
        served.suggest(["a" * 100_001], 1)
