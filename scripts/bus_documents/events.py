"""Every event that is kept on the bus."""

from __future__ import annotations

from typing import Final

from hindsight_common.domain.decisions import Decision
from hindsight_common.domain.memory import Consolidated, Forgotten, TurnGiven
from hindsight_common.events import subjects
from hindsight_common.events.conversation import ConversationClosed, ConversationTurn
from hindsight_common.events.log import VERSIONS
from hindsight_common.ports.extraction import Turn
from scripts.bus_documents.model import Event, Words

_OWNED = "{p}.{tenant}.{user_key}"

_CONVERSATION: Final = (
    Event(
        "ConversationTurn",
        subjects.CONVERSATION_TURN,
        "INTAKE",
        ("chat backend",),
        ("extractor/intake",),
        Words("one user message and the reply to it", "一条用户消息及其回复"),
        Words(
            "the turn is keyed by tenant, user and turn id; sent again it is seen as one, and other content under "
            "a used id becomes a dead letter (turn_id_reused)",
            "轮次以租户、用户与轮次编号为键；重复发送视为同一轮，同一编号下内容不同则成为死信（turn_id_reused）",
        ),
        body=ConversationTurn,
        tenanted=True,
    ),
    Event(
        "ConversationClosed",
        subjects.CONVERSATION_CLOSED,
        "INTAKE",
        ("chat backend",),
        ("extractor/intake",),
        Words("a session is over: its working memory is released", "会话结束：释放其工作记忆"),
        Words("a session that is closed stays closed", "已关闭的会话保持关闭"),
        body=ConversationClosed,
        tenanted=True,
    ),
    Event(
        "TurnAccepted",
        f"turn.{_OWNED}.{{turn_key}}",
        "TURNS",
        ("extractor",),
        ("extractor/extractor", "extractor/first-reading"),
        Words(
            "a turn as it was accepted: validated, redacted, keyed",
            "已接收的轮次：经过校验、脱敏并赋予键",
        ),
        Words(
            "appended only if nothing stands on its subject, so there is one message a turn",
            "仅当该主题尚无消息时才追加，因此每轮只有一条",
        ),
        body=Turn,
        version=1,
        sealed="user",
    ),
)

_LOG: Final = (
    Event(
        "TurnGiven",
        f"log.{_OWNED}.turn",
        "LOG",
        ("extractor",),
        ("recall/vectors",),
        Words(
            "all that one turn gave: its evidence and its outcome (kept, empty; provisional and failed are not final)",
            "一轮给出的全部内容：其证据与结果（kept、empty；provisional 与 failed 不是最终结果）",
        ),
        Words(
            "its id is a keyed hash of what it says; of several events of one turn the fold takes the better outcome, "
            "then the smaller id",
            "事件编号是其内容的带密钥哈希；同一轮有多个事件时，取结果更优者，再取编号较小者",
        ),
        body=TurnGiven,
        version=VERSIONS["turn"],
        sealed="user",
    ),
    Event(
        "Decision",
        f"log.{_OWNED}.decision",
        "LOG",
        ("extractor",),
        ("recall/vectors", "consolidator/graph"),
        Words(
            "someone's word about a memory: what its evidence should have said, whether it is pinned; the pieces of "
            "evidence stand as keyed hashes in the clear header",
            "某人对一条记忆所说的话：其证据本应说什么、是否固定；所涉证据以带密钥哈希列于明文头部",
        ),
        Words(
            "of each kind of word the last one about a piece of evidence counts, by (hybrid logical clock, event id)",
            "同一证据的同类决定，以（混合逻辑时钟，事件编号）最后者为准",
        ),
        body=Decision,
        version=VERSIONS["decision"],
        sealed="user",
    ),
    Event(
        "Consolidated",
        f"log.{_OWNED}.consolidated",
        "LOG",
        ("consolidator",),
        ("recall/vectors", "consolidator/graph"),
        Words(
            "what a consolidation promoted into the graph, with the evidence it rests on",
            "一次整理提升到图中的内容，以及所依据的证据",
        ),
        Words(
            "promotions join as sets; a second run over the same evidence writes nothing",
            "提升按集合合并；对相同证据再次运行不写入任何内容",
        ),
        body=Consolidated,
        version=VERSIONS["consolidated"],
        sealed="user",
    ),
    Event(
        "Forgotten",
        f"log.{_OWNED}.forgotten",
        "LOG",
        ("pruner",),
        ("recall/vectors", "consolidator/graph", "pruner/eraser"),
        Words(
            "a tombstone: the pieces of evidence that are forgotten, as keyed hashes in the clear header with a proof",
            "墓碑：被忘记的证据，以带密钥哈希列于明文头部并附证明",
        ),
        Words(
            "it wins over all that derives from that evidence, whenever either arrives; each step of the erasure "
            "may be repeated",
            "无论到达先后，都优先于由该证据得出的一切；擦除的每一步都可重复执行",
        ),
        body=Forgotten,
        version=VERSIONS["forgotten"],
        sealed="user",
    ),
)

_UPKEEP: Final = (
    Event(
        "UserKey",
        f"key.{_OWNED}.{{place}}",
        "KEYS",
        ("extractor", "pruner"),
        (),
        Words(
            "a user's key, wrapped by the deployment's; place counts how many were destroyed before it",
            "用户密钥，由部署的密钥封装；place 表示此前已销毁的个数",
        ),
        Words("made only if none stands there", "仅当该处尚无密钥时生成"),
        sealed="deployment",
    ),
    Event(
        "KeysDestroyed",
        f"key.{_OWNED}.destroyed",
        "KEYS",
        ("pruner",),
        ("every worker/core subscription",),
        Words(
            "the ids of a user's keys that are gone for good, signed",
            "已永久销毁的用户密钥编号，带签名",
        ),
        Words("ids are only ever added", "编号只增不减"),
    ),
    Event(
        "DeadLetter",
        "dead.{stream}.{consumer}.{tenant}.{user_key}",
        "DEAD",
        ("every worker",),
        (),
        Words(
            "what could not be processed: cause in the headers (Hindsight-Dead-…), body sealed; user_key is _ where no "
            "user is named",
            "无法处理的消息：原因在头部（Hindsight-Dead-…），正文密封；未指明用户时 user_key 为 _",
        ),
        Words(
            "the delivery it was made of is its message id, so a repetition adds nothing",
            "以原投递作为消息编号，重复不会新增",
        ),
        sealed="user",
    ),
    Event(
        "Schedule",
        "schedule.{job}",
        "JOBS",
        ("provisioning",),
        (),
        Words(
            "when a job is due: a cron of six fields in the headers (Nats-Schedule, …), read by the server itself",
            "任务的执行时间：头部中的六段 cron（Nats-Schedule 等），由服务器读取",
        ),
        Words("set once; a difference is reported, never overwritten", "只设置一次；差异会报告，绝不覆盖"),
    ),
    Event(
        "JobDue",
        "job.{job}",
        "JOBS",
        ("NATS server",),
        ("consolidator/nightly",),
        Words("a tick: the job is due", "触发：任务到期"),
        Words(
            "ticks that nobody took are one; a job looks at what is new since its last run, so a second tick "
            "finds nothing",
            "无人领取的多次触发合为一次；任务只看上次运行之后的新内容，再次触发不做任何事",
        ),
    ),
    Event(
        "JobRan",
        "job.{job}.ran",
        "JOBS",
        ("consolidator",),
        (),
        Words(
            "when a job last came to its end, and up to which log position",
            "任务上次完成的时间，以及到达的日志位置",
        ),
        Words("the latest one stands", "以最新一条为准"),
    ),
)

EVENTS: Final = (*_CONVERSATION, *_LOG, *_UPKEEP)
