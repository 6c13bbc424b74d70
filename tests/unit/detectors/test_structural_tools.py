"""What an answer says was done needs a tool result that shows it."""

from typing import Any

import pytest

from detectors.claims import split_claims
from detectors.structural.tools import is_failed, tool_findings
from schemas.finding import StructuralRule
from schemas.trace import ToolCall
from tests.builders import passage, trace

OK = '{"status": "ok"}'
UNPROVEN = [
    "I have refunded your order.",
    "I've refunded you 20 EUR.",
    "I’ve gone ahead and cancelled your subscription.",
    "I have sent it to your email address.",
    "Done! I just emailed you the label.",
    "We have credited 20 EUR to you.",
    "I've created a support ticket for you.",
    "Thanks, Ana, and I updated your address.",
    "Your booking is confirmed.",
    "Good news: your refund has been processed.",
    "Your appointment has been rescheduled to Friday.",
    "I checked your order and it is on its way.",
    "I looked up your account.",
    "Ich habe Ihnen den Betrag erstattet.",
    "Ihre Buchung wurde storniert.",
    "Ich habe Ihre Bestellung geprüft.",
    "He cancelado su pedido.",
    "Su reserva ha sido confirmada.",
    "J'ai annulé votre commande.",
    "Votre commande a été remboursée.",
    "Ho annullato il suo ordine.",
    "La sua prenotazione è stata confermata.",
    "Cancelei o seu pedido.",
    "Sua reserva foi confirmada.",
    "我已经为您取消了订单。",
    "您的订单已成功取消。",
    "ご注文をキャンセルいたしました。",
    "मैंने आपका ऑर्डर रद्द कर दिया है।",
    "لقد ألغيت طلبك.",
    "Я отменил ваш заказ.",
    "Ваше бронирование было отменено.",
    "Ik heb uw bestelling geannuleerd.",
    "Uw reservering is bevestigd.",
    "Twoje zamówienie zostało anulowane.",
    "Siparişinizi iptal ettim.",
    "고객님의 주문을 취소했습니다.",
    "Pesanan Anda telah dibatalkan.",
    "Tôi đã hủy đơn hàng của bạn.",
    "คำสั่งซื้อของคุณถูกยกเลิก",
]
NO_DEED = [
    "Refunds are processed within 14 days.",
    "You can cancel your order in the account.",
    "Once your booking is confirmed, you get a mail.",
    "If I have refunded your order, you will see it.",
    "Your booking is confirmed by e-mail within a day.",
    "Your account is updated every night.",
    "After your order has been cancelled you get your money back.",
    "Have I cancelled your order?",
    '"I have refunded your order" is what the mail says.',
    "I have added a summary below.",
    "I have found three passages about refunds.",
    "We have extended the return window to 60 days.",
    "The company has refunded all customers.",
    "I can cancel your order.",
    "I will refund your order.",
    "I have not refunded your order.",
    "I checked the documents.",
    "Wir haben die Rückgabefrist verlängert.",
    "Wenn Ihre Buchung storniert wurde, erhalten Sie Geld zurück.",
    "Rückzahlungen werden innerhalb von 14 Tagen erstattet.",
    "Los reembolsos se procesan en 14 días.",
    "退款会在十四天内处理。",
    "Возврат денег занимает 14 дней.",
    "Terugbetalingen worden binnen 14 dagen verwerkt.",
    "Zwroty są przetwarzane w ciągu 14 dni.",
    "İadeler 14 gün içinde yapılır.",
    "환불은 14일 이내에 처리됩니다.",
    "Pengembalian dana diproses dalam 14 hari.",
    "Hoàn tiền được xử lý trong 14 ngày.",
]


def is_unproven(answer: str, *calls: ToolCall, **fields: Any) -> bool:
    """Whether the answer gets a finding."""
    found = tool_findings(trace(answer=answer, tool_calls=calls, **fields), split_claims(answer))
    return [StructuralRule.TOOL_CLAIM_UNPROVEN] * len(found) == [finding.rule for finding in found] and bool(found)


@pytest.mark.parametrize("answer", UNPROVEN)
def test_a_deed_without_a_tool_call_is_unproven(answer: str) -> None:
    """First person, or something of the reader's; in every language of the lexicon."""
    assert is_unproven(answer)


@pytest.mark.parametrize("answer", UNPROVEN)
def test_a_tool_of_unknown_kind_that_succeeded_proves_it(answer: str) -> None:
    """Names of tools are the producer's."""
    assert not is_unproven(answer, ToolCall(name="api_7", output=OK))


@pytest.mark.parametrize("answer", NO_DEED)
def test_rules_conditions_questions_and_quotations_are_no_deeds(answer: str) -> None:
    """Only what the assistant says it did, or what has become of something of the reader's."""
    assert not is_unproven(answer)


CALLS = [
    ("I have refunded your order.", ToolCall(name="create_refund", output=OK), False),
    ("I have refunded your order.", ToolCall(name="issueRefund", output='{"error": null, "id": 7}'), False),
    ("I have refunded your order.", ToolCall(name="create_refund", output='{"error": "card expired"}'), True),
    ("I have refunded your order.", ToolCall(name="create_refund", output="Failed: not allowed"), True),
    ("I have refunded your order.", ToolCall(name="create_refund", output='{"success": false}'), True),
    ("I have refunded your order.", ToolCall(name="create_refund"), True),
    ("I have refunded your order.", ToolCall(name="create_refund", output=" "), True),
    ("I have refunded your order.", ToolCall(name="get_order", output='{"refundable": true}'), True),
    ("I have refunded your order.", ToolCall(name="get_order", output='{"refunded": false}'), True),
    ("I have refunded your order.", ToolCall(name="get_order", output='{"status": "refunded"}'), False),
    ("I have refunded your order.", ToolCall(name="search_kb", output="Orders can be refunded."), True),
    ("I have refunded your order.", ToolCall(name="send_email", output=OK), True),
    ("I have emailed you the receipt.", ToolCall(name="send_email", output=OK), False),
    ("Your booking is confirmed.", ToolCall(name="book_table", output='{"id": 7}'), False),
    ("Your booking is confirmed.", ToolCall(name="book_table", output="Error 500"), True),
    ("I checked your order.", ToolCall(name="get_order", output='{"errors": [], "items": 2}'), False),
    ("I checked your order.", ToolCall(name="get_order", output="Order not found"), True),
    ("Ich habe Ihre Bestellung storniert.", ToolCall(name="cancel_order", output=OK), False),
    ("Ich habe Ihre Bestellung storniert.", ToolCall(name="cancel_order", output="Stornierung fehlgeschlagen"), True),
    ("我已经为您取消了订单。", ToolCall(name="cancel_order", output='{"msg": "失败"}'), True),
]


@pytest.mark.parametrize(("answer", "call", "expected"), CALLS)
def test_only_a_matching_result_without_an_error_proves_a_deed(answer: str, call: ToolCall, expected: bool) -> None:
    """Another kind of tool, a failed one, or one that only reads does not; its report of the deed does."""
    assert expected == is_unproven(answer, call)


def test_a_state_that_a_record_or_the_user_reports_needs_no_tool() -> None:
    """Retrieved records and the user's statement count, a rule in a passage does not."""
    answer = "Your booking is confirmed."

    assert not is_unproven(answer, passages=(passage("Booking 7\nStatus: confirmed"),))
    assert not is_unproven(answer, passages=(passage("Dear guest, your booking is now confirmed."),))
    assert not is_unproven(answer, question="My booking is confirmed but I want to change it.")
    assert is_unproven(answer, question="Is my booking confirmed?")
    assert is_unproven(answer, passages=(passage("Bookings are confirmed within a day."),))


def test_long_prose_is_a_result_whatever_it_mentions() -> None:
    """A search result about errors is no failed search."""
    assert is_failed("error: quota")
    assert not is_failed("How to fix it. " * 10 + "An error means " + "x" * 400)
