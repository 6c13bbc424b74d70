"""Where claims end in the scripts of the world: by their marks, and by spaces where there are none."""

import pytest

from detectors.claims import split_claims

SCRIPTS = [
    ("退款需要5天；运费由我们承担。", ["退款需要5天；", "运费由我们承担。"]),
    ("退款需要5天.请联系客服!好的.", ["退款需要5天.", "请联系客服!", "好的."]),
    ("他说：“可以退款。没问题。”然后离开了。下一句。", ["他说：“可以退款。没问题。”然后离开了。", "下一句。"]),
    ("「返金できます。無料です。」と言った。終わり。", ["「返金できます。無料です。」と言った。", "終わり。"]),
    ("彼は『「無料。」です。』と言った。", ["彼は『「無料。」です。』と言った。"]),
    ("환불은 5일이 걸립니다.배송은 무료입니다.", ["환불은 5일이 걸립니다.", "배송은 무료입니다."]),
    ("यह मुफ़्त है| शुल्क नहीं है।ठीक।", ["यह मुफ़्त है|", "शुल्क नहीं है।", "ठीक।"]),
    ("डॉ. शर्मा आए। मूल्य रु. 500 है।", ["डॉ. शर्मा आए।", "मूल्य रु. 500 है।"]),
    ("الشحن مجاني.يستغرق خمسة أيام؟ نعم", ["الشحن مجاني.", "يستغرق خمسة أيام؟", "نعم"]),
    ("یہ مفت ہے۔ترسیل پانچ دن میں ہے۔", ["یہ مفت ہے۔", "ترسیل پانچ دن میں ہے۔"]),
    ("Είναι δωρεάν; Ναι, είναι.", ["Είναι δωρεάν;", "Ναι, είναι."]),
    ("Առաքումը անվճար է։ Տևում է 5 օր։", ["Առաքումը անվճար է։", "Տևում է 5 օր։"]),
    ("ማጓጓዝ ነፃ ነው።ተመላሽ 5 ቀን ይወስዳል።", ["ማጓጓዝ ነፃ ነው።", "ተመላሽ 5 ቀን ይወስዳል።"]),
    ("ដឹកជញ្ជូនឥតគិតថ្លៃ។ ត្រូវការ ៥ ថ្ងៃ។", ["ដឹកជញ្ជូនឥតគិតថ្លៃ។", "ត្រូវការ ៥ ថ្ងៃ។"]),
    ("ပို့ဆောင်ခ အခမဲ့ဖြစ်သည်။၅ ရက်ကြာသည်။", ["ပို့ဆောင်ခ အခမဲ့ဖြစ်သည်။", "၅ ရက်ကြာသည်။"]),
    ("དེ་རིན་མེད་ཡིན།ཉིན་ལྔ་འགོར།", ["དེ་རིན་མེད་ཡིན།", "ཉིན་ལྔ་འགོར།"]),
    ("Срок 5 дней, т. е. неделя. См. ст. 5.", ["Срок 5 дней, т. е. неделя.", "См. ст. 5."]),
    ("Kargo ücretsizdir. 3. madde geçerlidir.", ["Kargo ücretsizdir.", "3. madde geçerlidir."]),
    ("Zwrot trwa np. 5 dni. Dostawa jest darmowa.", ["Zwrot trwa np. 5 dni.", "Dostawa jest darmowa."]),
    ("De prijs is o.a. 5 euro. Retour is gratis.", ["De prijs is o.a. 5 euro.", "Retour is gratis."]),
    ("Giao hàng tại TP. Huế. Phí là 5 đồng.", ["Giao hàng tại TP. Huế.", "Phí là 5 đồng."]),
    ("Biaya Rp. 500. Pengiriman gratis.", ["Biaya Rp. 500.", "Pengiriman gratis."]),
    ("退款免费。It is free. Это бесплатно.", ["退款免费。", "It is free.", "Это бесплатно."]),
]


@pytest.mark.parametrize(("answer", "expected"), SCRIPTS)
def test_each_script_has_its_marks(answer: str, expected: list[str]) -> None:
    """Chinese to Tibetan, with and without a space behind the mark."""
    assert expected == [claim.text for claim in split_claims(answer)]


THAI = [
    (
        "การคืนเงินใช้เวลาห้าวันทำการหลังจากได้รับสินค้า ลูกค้าสามารถติดต่อฝ่ายบริการได้ทุกวัน",
        ["การคืนเงินใช้เวลาห้าวันทำการหลังจากได้รับสินค้า", "ลูกค้าสามารถติดต่อฝ่ายบริการได้ทุกวัน"],
    ),
    (
        "การคืนเงินใช้เวลาห้าวันทำการหลังจากได้รับ และลูกค้าสามารถติดต่อฝ่ายบริการได้",
        ["การคืนเงินใช้เวลาห้าวันทำการหลังจากได้รับ และลูกค้าสามารถติดต่อฝ่ายบริการได้"],
    ),
    ("คืนเงินได้ค่ะ สินค้าส่งภายในวันพรุ่งนี้", ["คืนเงินได้ค่ะ", "สินค้าส่งภายในวันพรุ่งนี้"]),
    ("ราคา 500 บาท รวมค่าส่งแล้ว", ["ราคา 500 บาท รวมค่าส่งแล้ว"]),
    ("เปิดเวลา 9.00 น. ถึง 17.00 น. ทุกวัน", ["เปิดเวลา 9.00 น. ถึง 17.00 น. ทุกวัน"]),
    ("ຄ່າຈັດສົ່ງຟຣີສຳລັບຄຳສັ່ງຊື້ທັງໝົດຂອງເດືອນນີ້ ກະລຸນາຕິດຕໍ່ພວກເຮົາ", ["ຄ່າຈັດສົ່ງຟຣີສຳລັບຄຳສັ່ງຊື້ທັງໝົດຂອງເດືອນນີ້", "ກະລຸນາຕິດຕໍ່ພວກເຮົາ"]),
]


@pytest.mark.parametrize(("answer", "expected"), THAI)
def test_thai_and_lao_are_parted_at_spaces_between_clauses(answer: str, expected: list[str]) -> None:
    """Behind a particle or 30 characters; not before a joining word, not beside figures."""
    assert expected == [claim.text for claim in split_claims(answer)]


@pytest.mark.parametrize("word", ["ก", "က", "ក", "ཀ"])
def test_long_runs_without_marks_are_parted_at_any_space(word: str) -> None:
    """No claim of these scripts grows without end, and no word is torn."""
    answer = f"{word * 90} 1 {word * 90} 2 {word * 90} 3 {word * 90}"
    claims = split_claims(answer)

    assert len(claims) > 1
    assert answer == " ".join(claim.text for claim in claims)
    assert [word * 1000] == [claim.text for claim in split_claims(word * 1000)]
