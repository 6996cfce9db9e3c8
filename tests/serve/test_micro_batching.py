"""Concurrent requests: predicted in batches, answered one by one."""

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.requests import Request

from sketchforest.serve import app, requests
from sketchforest.serve.limits import Limits
from sketchforest.serve.micro_batching import MicroBatcher
from sketchforest.serve.responses import RequestError
from sketchforest.serve.served_model import ModelSource, ServedModel


class Doubling:
    """Double numbers when allowed to, and record the batches."""

    def __init__(self):
        self.calls, self.may_work, self.n_working = [], threading.Event(), 0

    def __call__(self, numbers):
        self.n_working += 1
        assert self.n_working == 1
        self.calls.append(list(numbers))
        assert self.may_work.wait(20)
        self.n_working -= 1
        if 13 in numbers:
            raise OSError("unlucky")
        return [ValueError("negative") if n < 0 else 2 * n for n in numbers]


def test_concurrent_items_share_batches_and_fail_individually():
    work = Doubling()

    async def run():
        with ThreadPoolExecutor(4) as threads:
            batcher = MicroBatcher(work, threads, max_batch_size=3)
            tasks = [asyncio.create_task(batcher.submit(n)) for n in (1, 2, -3, 4, 5, 13, 6)]
            await asyncio.sleep(0.05)
            assert work.calls == [[1]]  # at once, without waiting for more
            tasks[4].cancel()  # disconnected: not handled
            await asyncio.sleep(0)
            work.may_work.set()
            return await asyncio.gather(*tasks, return_exceptions=True)

    found = asyncio.run(run())
    assert work.calls == [[1], [2, -3, 4], [13, 6]]
    assert found[:2] == [2, 4]
    assert found[3] == 8
    assert isinstance(found[2], ValueError)
    assert isinstance(found[4], asyncio.CancelledError)
    assert isinstance(found[5], OSError)
    assert isinstance(found[6], OSError)


def test_a_batch_may_have_no_one_waiting():
    work = Doubling()

    async def run():
        with ThreadPoolExecutor(1) as threads:
            batcher = MicroBatcher(work, threads, max_batch_size=2)
            tasks = [asyncio.create_task(batcher.submit(n)) for n in (1, 2, 3, 4)]
            await asyncio.sleep(0.05)
            for task in tasks[1:3]:
                task.cancel()
            await asyncio.sleep(0)
            work.may_work.set()
            return await asyncio.gather(*tasks, return_exceptions=True)

    found = asyncio.run(run())
    assert work.calls == [[1], [4]]
    assert found[0] == 2
    assert found[3] == 8


def test_concurrent_clients_get_their_own_responses(service, forests):
    texts = ["soup in the fridge", "cake and eggs", "which pan for rice", "bread", "pasta"]
    questions = []
    for at in range(60):
        content = {"row": texts[at % 5], "k": 1 + at % 3}
        if at % 7 == 3:
            content["row"] = at  # invalid, among valid ones
        if at % 7 == 5:
            content = {"row": {f"word{at}": 1}, "model": "matrix"}
        questions.append(content)
    with ThreadPoolExecutor(12) as threads:
        answers = list(threads.map(lambda content: service.ask("/suggest", content), questions))
    for content, (status, answer) in zip(questions, answers, strict=True):
        if isinstance(content["row"], int):
            assert status == 422
            assert f"got {content['row']}" in answer["error"]
            continue
        assert status == 200
        assert answer["model"] == content.get("model", "questions")
        row = [content["row"]]
        if "model" in content:
            row = [[float(f"word{i}" in content["row"]) for i in range(60)]]
        [expected] = forests[answer["model"]].suggest(row, content.get("k", 5))
        found = [(label["label"], label["score"]) for label in answer["labels"]]
        assert found == [(name, pytest.approx(score, abs=1e-6)) for name, score in expected]


@pytest.mark.parametrize(
    ("content", "status"),
    [({"row": "soup"}, 200), ({"rows": ["soup", "cake"]}, 200), ({"row": 3}, 422)],
)
def test_a_request_is_parsed_once(models, monkeypatch, content, status):
    body, calls = json.dumps(content).encode(), []
    parse = requests.parse_suggest
    monkeypatch.setattr(app, "parse_suggest", lambda *given: calls.append(given) or parse(*given))
    source = ModelSource("questions", models["questions"])
    received = [{"type": "http.request", "body": body}]

    async def receive():
        if received:
            return received.pop()
        await asyncio.Event().wait()

    async def run():
        service = app.Service.of({"questions": ServedModel.load(source)}, Limits())
        headers = [(b"content-type", b"application/json")]
        request = Request({"type": "http", "method": "POST", "headers": headers}, receive)
        return await service.suggest(request)

    if status == 200:
        assert asyncio.run(run()).status_code == 200
    else:
        with pytest.raises(RequestError):
            asyncio.run(run())
    assert len(calls) == 1
