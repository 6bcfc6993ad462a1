"""The words that redaction reads and writes, in Chinese and English."""

from __future__ import annotations

import re
from typing import Final, Literal

Kind = Literal["id_number", "bank_card", "passport", "api_key", "password", "private_key"]
Language = Literal["zh", "en"]

TRUTH: Final[dict[Kind, dict[Language, str]]] = {
    "id_number": {"zh": "[已填写证件]", "en": "[ID number provided]"},
    "bank_card": {"zh": "[已填写银行卡]", "en": "[bank card provided]"},
    "passport": {"zh": "[已填写护照]", "en": "[passport number provided]"},
    "api_key": {"zh": "[已提供密钥]", "en": "[API key provided]"},
    "password": {"zh": "[已提供密码]", "en": "[password provided]"},
    "private_key": {"zh": "[已提供私钥]", "en": "[private key provided]"},
}

# What a number is called. Of several labels before a number the nearest counts: one of its own kind is as good
# as a check digit, another one vetoes a check digit that one number in ten has by chance.
LOOK_ALIKE: Final = re.compile(
    r"订单|訂單|单号|單號|运单|快递|物流|流水号|编号|编码|条码|电话|手机|座机|传真|客服|微信|会员号|序列号"
    r"|(?<![a-z])(?:order|tracking|parcel|shipment|invoice|ticket|serial|imei|iccid|isbn|ean|sku|reference|ref"
    r"|phone|mobile|tel|fax|barcode|waybill)(?![a-z])",
    re.IGNORECASE,
)
CALLED_ID: Final = re.compile(
    r"身[份分][证證]|居留[证證]|统一证号|統一證號|(?<![a-z])(?:ssn|social\s+security)(?![a-z])|[证證]件|居住[证證]|(?<![a-z])(?:identity|id)(?:\s+(?:card|number|no\.?))?(?![a-z])",
    re.IGNORECASE,
)
CALLED_CARD: Final = re.compile(
    r"卡号|卡號|银行卡|銀行卡|信用卡|储蓄卡|借记卡|银联|(?<![a-z])(?:bank|credit|debit|visa|mastercard|amex|unionpay)"
    r"(?![a-z])|(?<![a-z])card(?:\s+(?:number|no\.?))?(?![a-z])",
    re.IGNORECASE,
)

# What follows "the password is" without being one
_COMMON: Final = """
a about across again almost already also always an and any as asked at bad base64 being between
blank both by case case-sensitive changed changing compromised correct described different down due
easy eight eleven empty encrypted enough exactly expired expiring false fine five for forgotten
four from getting gone good great hard hashed here how in incorrect invalid it just known leaked
less literally locked long longer lost managed mandatory maybe missing more my nearly needed never
nine no none not now null ok okay old on one only optional our out outdated probably protected
provided public really rejected required reset right safe same saved secret secure sent set seven
shared short shorter simple six so something stale still stored strong stronger stupid supposed
sure temporary ten than that the their there this three to too true twelve two unchanged undefined
unique unknown unsafe up updated used very visible weak what whatever when where wherever which who
why with working wrong your
"""
NO_PASSWORD_EN: Final = frozenset(_COMMON.split())
NO_PASSWORD_ENDING_EN: Final = ("able", "ed", "ible", "ing", "less", "ly")
NO_PASSWORD_ZH: Final = re.compile(
    r"[我你您他她它多什哪怎错錯对對不没沒谁誰忘正必一用空太很由存放需要自随隨同原旧舊新在从從被为為保安弱强強简簡"
    r"复複公共默统統系加重最更还還就会會可能能应應].*|.*[的了吗嗎呢吧啊嘛么麼]"
)
