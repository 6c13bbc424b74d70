"""The engine's Kafka transport with our consumer: set a ``GroupTransport`` as ``app.transport``."""

from typing import Any

import faust
from faust.transport.conductor import Conductor
from faust.transport.drivers import aiokafka as driver

from streams.broker.connection import Connection
from streams.broker.group import GroupConsumer
from streams.broker.member import ENGINE_LOG
from streams.broker.reading import Reading


class _Conductor(Conductor):
    """Leaves the count of what is acknowledged to the consumer."""

    logger = ENGINE_LOG

    def acks_enabled_for(self, topic: str) -> bool:
        """Never: the engine's own count, which this turns off, goes wrong at gaps."""
        del topic
        return False


class GroupTransport(driver.Transport):
    """Makes the consumer of an app; set it before anything else is done with the app."""

    Conductor = _Conductor

    def __init__(self, app: faust.App, connection: Connection, reading: Reading) -> None:
        super().__init__(app.conf.broker_consumer, app)
        self._connection = connection
        self._reading = reading

    def create_consumer(self, callback: Any, **kwargs: Any) -> GroupConsumer:
        """Called by the app, once."""
        return GroupConsumer(self, self._connection, self._reading, callback=callback, loop=self.loop, **kwargs)
