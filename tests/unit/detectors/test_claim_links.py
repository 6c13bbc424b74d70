"""Web addresses in answers."""

import pytest

from detectors.claims.links import find_links, link_targets, mail_hosts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See https://Shop.example/Returns/.", ["shop.example/Returns"]),
        ("See (https://www.shop.example/a_(b)), then www.shop.example!", ["shop.example/a_(b)", "shop.example"]),
        ("[the form](http://shop.example/form?x=1#top)", ["shop.example/form"]),
        ('<a href="https://shop.example/a%20b">form</a> <https://b.example>', ["shop.example/a b", "b.example"]),
        ("**https://shop.example/x**, https://shop.example/y。次", ["shop.example/x", "shop.example/y"]),
        ("https://user:pw@shop.example:8443/x", ["shop.example:8443/x"]),
        ("Write to help@shop.example or mailto:help@shop.example.", []),
        ("http://localhost:8080/x, http://127.0.0.1/x, http://192.168.0.1/, https://... and https://<host>/x", []),
        ("e.g. node.js and shop.example", []),
    ],
)
def test_addresses_come_in_one_form(text: str, expected: list[str]) -> None:
    """Scheme, www, query, fragment and the signs around make no difference; e-mail and this machine do not count."""
    assert expected == [link.address for link in find_links(text)]


def test_relative_targets_are_kept_as_written() -> None:
    """They may be ids of passages or files."""
    assert ("returns.md", "#kb-7", "terms") == link_targets(
        "[a](returns.md) [b](#kb-7 'title') [c](https://x.example) [d](mailto:x@y.example) <a href='terms'>"
    )


def test_hosts_of_mail_addresses_are_found() -> None:
    """In lower case."""
    assert ["shop.example"] == list(mail_hosts("Write to Help@Shop.example."))
