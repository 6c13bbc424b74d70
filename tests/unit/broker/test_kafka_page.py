"""The page about Kafka says what the code does."""

from pathlib import Path

import pytest
from faust.transport.drivers import aiokafka as driver

from streams.attach.needs import acls
from streams.broker.embedded import CANNOT
from streams.broker.group import GroupConsumer
from streams.broker.member import MemberThread

PAGE = (Path(__file__).parents[3] / "docs" / "kafka.md").read_text(encoding="utf-8")


def test_page_lists_the_rights_that_attach_prints() -> None:
    """Line by line; a broker that refuses all else proves them in the integration tests."""
    lines = [line for line in PAGE.splitlines() if line.startswith("kafka-acls")]
    assert list(acls("SOURCE", "INTERNAL", ["TOPIC"])) == lines


def test_page_lists_what_the_embedded_broker_cannot_do() -> None:
    """The same words as in the code."""
    part = PAGE.partition("## The embedded broker")[2].partition("\n## ")[0]
    assert list(CANNOT) == [line.removeprefix("- ") for line in part.splitlines() if line.startswith("- ")]


@pytest.mark.parametrize(
    ("ours", "engine", "factory"),
    [
        (GroupConsumer, driver.Consumer, "_new_consumer_thread"),
        (MemberThread, driver.AIOKafkaConsumerThread, "_create_worker_consumer"),
    ],
)
def test_one_factory_of_each_class_of_the_engine_is_replaced(ours: type, engine: type, factory: str) -> None:
    """Beside public methods; a private name of ours that the engine has, too, would break it in silence."""
    made_by_python = {"_abc_impl", "_tasks"}
    private = {name for name in vars(ours) if name.startswith("_") and not name.startswith("__")}
    assert {factory} == {name for name in private if hasattr(engine, name)} - made_by_python
