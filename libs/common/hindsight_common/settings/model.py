"""Every setting with its default, limits and a sentence about it in English and Chinese."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

ENV_PREFIX: Final = "HINDSIGHT_"
ENV_NESTING: Final = "__"
# what the server form cannot do without, beside the bus
SERVER_STORES: Final = ("redis_url", "qdrant_url", "neo4j_url")


def setting(default: Any, english: str, chinese: str, *, planned: bool = False, **limits: Any) -> Any:
    """A field with its explanation; `planned` = accepted and checked, but nothing reads it yet."""
    return Field(
        default, description=english, json_schema_extra={"zh": chinese, "planned": planned}, **limits
    )


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class WorkingSettings(Section):
    window_size: int = setting(
        5,
        "Utterances of a session that are looked at.",
        "会话中参与判断的最近发言数。",
        ge=5,
        le=7,
    )
    semantic_threshold: float = setting(
        0.65,
        "Calibrated similarity to the query above which an utterance is kept.",
        "发言与查询的校准相似度高于此值才保留。",
        ge=0,
        le=1,
    )
    session_ttl_hours: float = setting(
        2,
        "Hours of silence after which a session's utterances are gone.",
        "会话静默超过此小时数后，其发言即被清除。",
        gt=0,
        le=24,
    )


class EpisodicSettings(Section):
    fingerprint_update_interval: int = setting(
        3600,
        "Seconds between two published fingerprints.",
        "两次发布行为指纹之间的秒数。",
        planned=True,
        ge=1,
    )
    decay_half_life: float = setting(
        72, "Half-life of a behavioural signal, in hours.", "行为信号的半衰期（小时）。", planned=True, gt=0
    )


class SemanticSettings(Section):
    graph_pruning_cron: str = setting(
        "0 0 1 * *",
        "When a pruning plan is made (five-field cron).",
        "生成剪枝计划的时间（五段 cron）。",
        planned=True,
    )
    max_graph_nodes: int = setting(
        50_000,
        "Nodes of one user's graph above which a warning is raised; nothing is deleted.",
        "单个用户的图超过此节点数即告警，但不会删除任何内容。",
        ge=1,
    )
    similarity_threshold: float = setting(
        0.7,
        "Calibrated similarity to the query above which a relation is put into a snapshot.",
        "关系与查询的校准相似度高于此值才写入快照。",
        ge=0,
        le=1,
    )
    max_edges: int = setting(5, "Relations in a snapshot at most.", "快照中最多包含的关系数。", ge=0, le=50)

    @field_validator("graph_pruning_cron")
    @classmethod
    def _five_fields(cls, cron: str) -> str:
        if len(cron.split()) != 5:
            raise ValueError("a cron has five fields: minute hour day month weekday")
        return cron


class MemoryLayers(Section):
    working: WorkingSettings = WorkingSettings()
    episodic: EpisodicSettings = EpisodicSettings()
    semantic: SemanticSettings = SemanticSettings()


class EmbeddingSettings(Section):
    model_name: str = setting(
        "multilingual-e5-small",
        "multilingual-e5-small, all-MiniLM-L6-v2 or the path of an ONNX folder.",
        "multilingual-e5-small、all-MiniLM-L6-v2 或某个 ONNX 目录的路径。",
        min_length=1,
    )
    device: Literal["cpu", "cuda"] = setting(
        "cpu",
        "Where models run; cuda without a usable GPU says so and runs on the CPU.",
        "模型运行的设备；选 cuda 而没有可用 GPU 时会提示并改用 CPU。",
    )
    threads: int | None = setting(
        None,
        "Embedding calls that run side by side, one thread each; empty = the CPUs this process may use.",
        "并行执行的嵌入调用数，每个调用一个线程；留空 = 本进程可用的 CPU 数。",
        ge=1,
        le=256,
    )
    cache_dir: Path | None = setting(
        None,
        "Folder for models converted at first use; empty = hindsight/models in the user's cache.",
        "首次使用时转换的模型存放目录；留空 = 用户缓存目录下的 hindsight/models。",
    )


class ConflictWeights(Section):
    working: float = setting(
        0.6, "Weight of what was just said.", "刚刚说出的内容的权重。", planned=True, ge=0
    )
    semantic: float = setting(
        0.4, "Weight of what the graph holds.", "图中已有内容的权重。", planned=True, ge=0
    )


class OrchestratorSettings(Section):
    hook_timeout: int = setting(
        3000,
        "Milliseconds the hooks may take before the call goes on with what there is.",
        "钩子的最长耗时（毫秒），超时则带着已有内容继续调用。",
        ge=1,
    )
    token_budget: int = setting(
        1500,
        "Tokens of a snapshot at most, by a careful estimate, where a request names no number.",
        "请求未指定时，快照的 token 上限（按偏高的估算）。",
        ge=64,
        le=100_000,
    )
    conflict_resolution_weight: ConflictWeights = ConflictWeights()


class RecallWeights(Section):
    """Each at least 0, together more than 0."""

    similarity: float = setting(0.4, "Share of calibrated similarity.", "校准相似度所占权重。", ge=0)
    importance: float = setting(0.3, "Share of importance.", "重要度所占权重。", ge=0)
    recency: float = setting(0.3, "Share of recency.", "新近程度所占权重。", ge=0)

    @model_validator(mode="after")
    def _some_weight(self) -> RecallWeights:
        if self.similarity + self.importance + self.recency <= 0:
            raise ValueError("at least one of the three weights must be above 0")
        return self


class RecallSettings(Section):
    top_k: int = setting(
        3, "Memories returned when a request names no number.", "请求未指定时返回的记忆条数。", ge=1, le=100
    )
    min_score: float = setting(
        0.5, "Score below which nothing is returned by default.", "默认不返回得分低于此值的记忆。", ge=0, le=1
    )
    gate: float = setting(
        0.15,
        "Calibrated similarity a memory must reach before importance and recency count. Measured on pairs held apart: "
        "at 0.15, 93 of 100 answering memories pass and 69 of 100 of the user's other ones do not; at 0.35, 84 and 93.",
        "校准相似度达到此值后，重要度与新近程度才计入得分。在留出的样本上测得：取 0.15 时，应答记忆有 93% 通过，"
        "该用户的其他记忆有 69% 被挡下；取 0.35 时分别为 84% 和 93%。",
        ge=0,
        le=1,
    )
    weights: RecallWeights = RecallWeights()
    meaning_share: float = setting(
        0.5,
        "Share of meaning in similarity; the rest is that of words.",
        "相似度中语义所占的份额，其余为词语所占。",
        ge=0,
        le=1,
    )
    recency_half_life_days: float = setting(
        135,
        "Days after which recency has halved (135 gives 0.86 at 30 days, 0.63 at 90, 0.15 at 365).",
        "新近程度减半所需天数（135 时：30 天 0.86，90 天 0.63，365 天 0.15）。",
        gt=0,
    )
    wait_for_s: float = setting(
        2.0,
        "Seconds a request waits for a log position before it answers not_caught_up.",
        "请求等待日志位置的最长秒数，之后以 not_caught_up 作答。",
        ge=0,
        le=30,
    )
    timeout_ms: int = setting(
        2000,
        "Milliseconds, beside recall.wait_for_s, after which an answer is made of what is there; the embedding and the "
        "graph have half of it, so that a slow model leaves the words.",
        "召回的时限（毫秒，不含 recall.wait_for_s），到时以已有内容作答；嵌入与图最多占用其一半，"
        "模型缓慢时仍可按词语作答。",
        ge=20,
        le=8000,
    )
    candidates: int = setting(
        100,
        "Candidates taken from each channel before scoring.",
        "打分前每个通道取出的候选数。",
        ge=1,
        le=1000,
    )


class RetentionSettings(Section):
    turn_hours_after_outcome: float = setting(
        24,
        "Hours an accepted turn is kept after its final outcome is in the log.",
        "轮次的最终结果写入日志后再保留的小时数。",
        ge=0,
    )
    turn_max_days: float = setting(
        30, "Days an accepted turn is kept at most.", "已接收轮次的最长保留天数。", planned=True, gt=0
    )
    dead_letter_days: float = setting(
        30, "Days a dead letter is kept.", "死信的保留天数。", planned=True, gt=0
    )
    unreadable_days: float = setting(
        7,
        "Days a dead letter without a readable body is kept.",
        "内容无法读取的死信的保留天数。",
        planned=True,
        gt=0,
    )
    audit_days: float = setting(
        400, "Days the audit log is kept.", "审计日志的保留天数。", planned=True, gt=0
    )


class IntakeSettings(Section):
    max_message_kib: int = setting(
        256, "Largest message that is accepted, in KiB.", "可接收的单条消息上限（KiB）。", ge=1, le=768
    )


class LlmSettings(Section):
    """Turns are extracted by a model where `base_url` and `model` are given, by rules elsewhere."""

    provider: str | None = setting(
        None,
        "Name of the OpenAI-compatible provider, for people; nothing depends on it.",
        "兼容 OpenAI 接口的服务商名称，仅供识别，不影响行为。",
    )
    base_url: str | None = setting(
        None,
        "Base address of the endpoint, such as http://127.0.0.1:11434/v1; with llm.model, turns are read by it.",
        "接口的基础地址，例如 http://127.0.0.1:11434/v1；与 llm.model 同时设置后由模型抽取。",
        pattern=r"^https?://\S+$",
    )
    api_key: SecretStr | None = setting(
        None,
        "Key of the endpoint; environment only, never in config.yaml.",
        "接口密钥；只能通过环境变量提供，不写入 config.yaml。",
    )
    model: str | None = setting(None, "Model that extracts.", "用于抽取的模型。", min_length=1)
    prompt_path: Path | None = setting(
        None,
        "YAML file with the extraction prompt, or a folder with extract_zh.yaml and extract_en.yaml.",
        "抽取提示词的 YAML 文件，或包含 extract_zh.yaml 与 extract_en.yaml 的目录。",
    )
    timeout_s: float = setting(
        60, "Seconds after which a reply is no longer waited for.", "等待模型回复的最长秒数。", gt=0, le=600
    )
    concurrency: int = setting(
        8, "Turns that the model reads at the same time.", "模型同时处理的轮次数。", ge=1, le=64
    )
    max_output_tokens: int = setting(
        2048,
        "Tokens of a reply; one that is cut off is asked for again with four times as many.",
        "单次回复的 token 上限；被截断时以四倍上限重新请求。",
        ge=64,
        le=65_536,
    )
    max_input_characters: int = setting(
        24_000,
        "Characters of a turn in one request; a longer turn is read in parts.",
        "单次请求中轮次内容的字符数上限；更长的轮次分段处理。",
        ge=1000,
    )
    provisional_after_ms: int = setting(
        600,
        "Milliseconds the model has before the rules' reading can be recalled in its place.",
        "模型在此毫秒数内未完成时，先以规则抽取的暂定结果供召回。",
        ge=0,
    )
    final_after_days: float = setting(
        30,
        "Days after which the rules' reading becomes final where no model has read the turn.",
        "超过此天数仍未由模型处理的轮次，以规则抽取结果为准。",
        gt=0,
        le=30,
    )


class Settings(BaseSettings):
    """Immutable; made by `load_settings`, which reports every fault at once."""

    model_config = SettingsConfigDict(
        extra="forbid",
        frozen=True,
        env_prefix=ENV_PREFIX,
        env_nested_delimiter=ENV_NESTING,
        env_ignore_empty=True,
        hide_input_in_errors=True,
    )

    memory_store: Literal["embedded", "server"] = setting(
        "embedded",
        "embedded: all stores inside one process; server: NATS, Redis, Qdrant and Neo4j of their own.",
        "embedded：所有存储都在一个进程内；server：使用独立的 NATS、Redis、Qdrant 与 Neo4j。",
    )
    data_dir: Path = setting(
        Path("data"), "Where the embedded form keeps everything.", "嵌入式形态存放全部数据的目录。"
    )
    nats_url: str = setting(
        "nats://127.0.0.1:4222",
        "Address of the bus.",
        "消息总线的地址。",
        pattern=r"^(nats|tls|ws|wss)://\S+$",
    )
    nats_user: str | None = setting(
        None,
        "User of the NATS server; it also names the inbox. Empty where the server asks for none.",
        "NATS 服务器的用户名，同时决定收件箱的名称。服务器不要求认证时留空。",
        min_length=1,
    )
    nats_password: SecretStr | None = setting(
        None,
        "Password of nats_user; environment only.",
        "nats_user 的密码；只能通过环境变量提供。",
    )
    nats_credentials: Path | None = setting(
        None,
        "Credentials file of NATS (JWT and seed), in place of a password.",
        "NATS 凭证文件（JWT 与种子），用以代替密码。",
    )
    redis_url: str | None = setting(
        None,
        "Address of Redis, which holds working memory: redis://, rediss:// or unix://; a password may stand in it, "
        "then give it by the environment.",
        "存放工作记忆的 Redis 地址：redis://、rediss:// 或 unix://；其中可含密码，此时请通过环境变量提供。",
        pattern=r"^(rediss?|unix)://\S+$",
    )
    qdrant_url: str | None = setting(
        None,
        "Address of the Qdrant server; needed by memory_store: server.",
        "Qdrant 服务器地址；memory_store: server 时必填。",
        pattern=r"^https?://[^\s@]+$",
    )
    qdrant_api_key: SecretStr | None = setting(
        None,
        "Key of the Qdrant server; environment only.",
        "Qdrant 服务器的密钥；只能通过环境变量提供。",
    )
    qdrant_collection: str = setting(
        "hindsight_memories",
        "Name under which memories are found in Qdrant: an alias, with numbered collections behind it.",
        "记忆在 Qdrant 中的名称：一个别名，其后是带编号的集合。",
    )
    neo4j_url: str | None = setting(
        None,
        "Address of Neo4j (bolt:// or neo4j://, also with +s or +ssc); needed by memory_store: server.",
        "Neo4j 的地址（bolt:// 或 neo4j://，可带 +s 或 +ssc）；memory_store: server 时必填。",
        pattern=r"^(bolt|neo4j)(\+s|\+ssc)?://[^\s@]+$",
    )
    neo4j_user: str = setting("neo4j", "User of Neo4j.", "Neo4j 的用户名。", min_length=1)
    neo4j_password: SecretStr | None = setting(
        None,
        "Password of Neo4j, empty where it asks for none; environment only.",
        "Neo4j 的密码，无需密码时留空；只能通过环境变量提供。",
    )
    neo4j_database: str = setting(
        "neo4j", "Database in Neo4j that holds the graph.", "Neo4j 中存放图的数据库。", min_length=1
    )
    health_host: str = setting(
        "127.0.0.1",
        "Where a worker of its own process answers /live and /ready.",
        "独立进程的工作单元提供 /live 与 /ready 的地址。",
        min_length=1,
    )
    health_port: int | None = setting(
        None,
        "Port of /live and /ready; empty = none, 0 takes a free one.",
        "/live 与 /ready 的端口；留空 = 不提供，0 表示任取一个空闲端口。",
        ge=0,
        le=65535,
    )
    api_host: str = setting(
        "127.0.0.1",
        "Where HTTP listens; no keys are checked yet, so leave it on loopback.",
        "HTTP 监听地址；目前尚无密钥校验，请保持本机回环地址。",
        min_length=1,
    )
    api_port: int = setting(
        8787, "Port of HTTP; 0 takes a free one.", "HTTP 端口；0 表示任取一个空闲端口。", ge=0, le=65535
    )
    master_key: SecretStr | None = setting(
        None,
        "Master secret; environment only. Without it the embedded form makes one in its data directory.",
        "主密钥；只能通过环境变量提供。缺省时嵌入式形态会在数据目录中生成。",
    )
    master_key_file: Path | None = setting(None, "File that holds the master secret.", "存放主密钥的文件。")
    preset: Literal["default", "education", "support"] = setting(
        "default", "A set of defaults for a field of use.", "面向某一使用场景的一组默认值。"
    )
    session_isolation: Literal[True] = setting(
        True, "Always true; isolation cannot be switched off.", "恒为 true；隔离无法关闭。"
    )
    memory_layers: MemoryLayers = MemoryLayers()
    embedding: EmbeddingSettings = EmbeddingSettings()
    recall: RecallSettings = RecallSettings()
    intake: IntakeSettings = IntakeSettings()
    orchestrator: OrchestratorSettings = OrchestratorSettings()
    retention: RetentionSettings = RetentionSettings()
    llm: LlmSettings = LlmSettings()

    @field_validator("qdrant_collection")
    @classmethod
    def _plain_name(cls, name: str) -> str:
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name):
            raise ValueError("takes letters, digits, - and _, up to 64 of them")
        return name

    @model_validator(mode="after")
    def _one_way_into_the_bus(self) -> Settings:
        if self.nats_password is not None and self.nats_credentials is not None:
            raise ValueError("nats_password and nats_credentials are two ways in: give one of them")
        if self.nats_password is not None and self.nats_user is None:
            raise ValueError("nats_password is set without nats_user (HINDSIGHT_NATS_USER): name the user")
        return self

    @model_validator(mode="after")
    def _server_form_names_its_stores(self) -> Settings:
        if self.memory_store == "server":
            missing = [
                f"{name} ({ENV_PREFIX}{name.upper()})"
                for name in SERVER_STORES
                if getattr(self, name) is None
            ]
            if missing:
                raise ValueError(f"memory_store: server needs {', '.join(missing)}")
        return self
