"""Sentences of many languages that state nothing, and short ones that do; all written for these tests."""

from collections.abc import Mapping

SILENT_AND_FACTUAL: Mapping[str, tuple[str, str]] = {
    "en": (
        (
            "Hi John, thank you for contacting us about your order.|I can help you with that!|"
            "Here is what I found.|Please provide more information.|I have summarised the article above.|"
            "Hope this helps! 😊|**Note:**|"
            "Based on the given passages, the differences between the two systems of the body are as follows:|"
            "Passage 3 does not give any dates.|Sure! 👋|As an AI language model, I have no opinions."
        ),
        (
            "Hello, shipping is free.|Thank you for waiting, refunds are free.|Here is free parking.|"
            "Nothing is refunded.|The document does not expire.|Your documents are not stored.|"
            "I have included free shipping.|"
            "They do not offer access, and there is no mention of music in the passages.|"
            "Based on the passages, forest fires are good for conifers like jack pines in several ways:"
        ),
    ),
    "de": (
        (
            "Hallo Frau Müller,|Vielen Dank für Ihre Anfrage.|Ich stehe Ihnen gerne zur Verfügung.|"
            "Hier ist die Antwort:|Schritt 2:|Es tut mir leid.|Ist das kostenlos?|"
            "Die Dokumente enthalten keine Angaben dazu."
        ),
        (
            "Der Versand ist kostenlos.|Hier ist der Versand kostenlos.|"
            "Bestellungen werden nicht storniert.|Es tut mir leid, geöffnete Software wird nicht erstattet."
        ),
    ),
    "fr": (
        (
            "Bonjour Madame,|Merci pour votre message.|N’hésitez pas à me contacter.|Voici les étapes :|"
            "Étape 1 :|Je ne sais pas.|Les documents ne mentionnent pas le prix.|Est-ce gratuit ?"
        ),
        "La livraison est gratuite.|Les retours ne sont pas acceptés.",
    ),
    "es": (
        (
            "¡Hola, María!|Gracias por contactarnos.|Aquí están los pasos:|No dude en preguntar.|No lo sé.|"
            "Los documentos no mencionan el precio."
        ),
        "El envío es gratuito.|No hay devoluciones.",
    ),
    "it": (
        "Buongiorno,|Grazie per averci contattato.|Ecco i passaggi:|Non esitare a chiedere.|Non lo so.",
        "La spedizione è gratuita.|I resi non sono ammessi.",
    ),
    "pt": (
        "Olá!|Obrigado pelo contato.|Fico à disposição.|Não sei.|Os documentos não mencionam o preço.",
        "O envio é grátis.|Não há reembolsos.",
    ),
    "zh": (
        "感谢您的咨询。|希望对您有帮助！|以下是步骤：|步骤1：|上下文中没有提到价格。|这是免费的吗。",
        "运费免费。|礼品卡不能退款。|谢谢，运费免费。|没有运费。|没有找到价格信息，但运费免费。|退款政策规定所有商品均可在购买后免费退货，而且运费也由我们来承担：",
    ),
    "ja": (
        "お問い合わせありがとうございます。|手順は以下の通りです：|お気軽にお問い合わせください。|情報が見つかりませんでした。|返品できますか。",
        "送料は無料です。|返品できません。|次の配送は無料です。",
    ),
    "ar": (
        "مرحبا!|شكرا لك.|فيما يلي الخطوات:|لا أعرف.|لا توجد معلومات في الوثائق.|هل هذا مجاني؟",
        "الشحن مجاني.|لا يمكن إرجاع المنتج.",
    ),
    "hi": (
        "नमस्ते!|धन्यवाद।|निम्नलिखित चरण:|मुझे नहीं पता।|क्या यह मुफ़्त है?",
        "यह मुफ़्त है।|यहाँ शुल्क नहीं है।",
    ),
    "th": (
        "สวัสดีค่ะ|ขอบคุณค่ะ|ขั้นตอนมีดังนี้:|ฉันไม่ทราบ|เอกสารไม่ได้กล่าวถึงราคา|ฟรีไหมคะ",
        "ค่าจัดส่งฟรี|ไม่สามารถคืนสินค้าได้|ขออภัย ค่าจัดส่งไม่ฟรี",
    ),
    "ru": (
        (
            "Здравствуйте!|Спасибо за обращение.|Вот шаги:|Если у вас есть вопросы, обращайтесь.|Я не знаю.|"
            "В документах не указана цена."
        ),
        "Доставка бесплатная.|Возврат невозможен.|Спасибо за ожидание, доставка бесплатная.",
    ),
    "ko": (
        (
            "안녕하세요!|문의해 주셔서 감사합니다.|다음은 단계입니다:|모르겠습니다.|무료인가요?|"
            "문서에 가격이 언급되어 있지 않습니다."
        ),
        "배송은 무료입니다.|환불은 불가능합니다.|배송은 무료입니다, 감사합니다.",
    ),
    "tr": (
        "Merhaba,|Teşekkür ederim.|İşte adımlar:|Bilmiyorum.|Bu konuda bilgi bulunmamaktadır.",
        "Kargo ücretsizdir.|İade kabul edilmez.",
    ),
    "nl": (
        "Bedankt voor uw bericht.|Hier zijn de stappen:|Laat het me gerust weten.|Ik weet het niet.",
        "De verzending is gratis.|Retourneren is niet mogelijk.",
    ),
    "pl": (
        "Dzień dobry!|Dziękuję za wiadomość.|Oto kroki:|Nie wiem.|Brak informacji na ten temat.",
        "Dostawa jest bezpłatna.|Zwroty nie są możliwe.",
    ),
    "vi": (
        "Xin chào!|Cảm ơn bạn đã liên hệ.|Dưới đây là các bước:|Tôi không biết.|Tài liệu không đề cập đến giá.",
        "Phí vận chuyển là miễn phí.|Không hoàn tiền.",
    ),
    "id": (
        (
            "Halo!|Terima kasih atas pertanyaan Anda.|Berikut langkah-langkahnya:|Saya tidak tahu.|"
            "Dokumen tersebut tidak menyebutkan harga."
        ),
        "Pengiriman gratis.|Barang tidak dapat dikembalikan.",
    ),
    "marks": (
        "Is it free? 🤔|**Can I return it?**|“Are you happy?”|(Really?)|Is it free? [1]|Είναι δωρεάν;|Ի՞նչ է սա։",
        "The survey asks “Are you happy?”|Contact us (any questions?)|It is free; take it;",
    ),
}
"""By language: sentences parted by bars."""
