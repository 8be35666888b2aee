/**
 * The model families behind Bedrock's API and the features that each supports.
 *
 * @module
 */

/** Features of a model family. */
export interface ModelFamily {
  /** The format of its thinking settings. */
  readonly thinking: "claude" | "nova" | "gpt" | "gpt_oss" | "none";
  /** Parts of a request that may have a cache point. */
  readonly cachePoints: readonly ("system" | "tools" | "messages")[];
  /** Whether a prefix may be cached for one hour. */
  readonly longCache: boolean;
  /** Whether tool results have a status; otherwise only their text marks an error. */
  readonly resultStatus: boolean;
  /** Whether tool results may contain images and documents; otherwise these follow the results. */
  readonly resultMedia: boolean;
  /** Tool choices that force a call: any call, or a call of one tool. */
  readonly forcedChoices: readonly ("any" | "tool")[];
  /** Content that a message with calls or results may contain in addition. */
  readonly mixedTurns: "any" | "no_documents" | "none";
  /** Whether a reply of a request with tools may be a stream. */
  readonly streamsTools: boolean;
  /** Whether a prompt may contain documents. */
  readonly documents: boolean;
  /** Whether the model cites documents. */
  readonly citations: boolean;
  /** Whether texts may end a reply. */
  readonly stop: boolean;
  /** Whether the model can continue a reply that ends the request. */
  readonly prefill: boolean;
}

const OTHER_FAMILY: ModelFamily = {
  thinking: "none",
  cachePoints: [],
  longCache: false,
  resultStatus: false,
  resultMedia: false,
  forcedChoices: [],
  mixedTurns: "none",
  streamsTools: true,
  documents: true,
  citations: false,
  stop: true,
  prefill: false,
};
const CLAUDE: ModelFamily = {
  thinking: "claude",
  cachePoints: ["system", "tools", "messages"],
  longCache: true,
  resultStatus: true,
  resultMedia: true,
  forcedChoices: ["any", "tool"],
  mixedTurns: "no_documents",
  streamsTools: true,
  documents: true,
  citations: true,
  stop: true,
  prefill: true,
};
const NOVA: ModelFamily = {
  ...OTHER_FAMILY,
  thinking: "nova",
  cachePoints: ["system", "messages"],
  resultStatus: true,
  forcedChoices: ["any", "tool"],
  mixedTurns: "any",
};

/** GPT-5.6 and later. They cache without cache points and reject them, as well as documents. */
const GPT: ModelFamily = {
  ...OTHER_FAMILY,
  thinking: "gpt",
  forcedChoices: ["any", "tool"],
  mixedTurns: "any",
  documents: false,
  stop: false,
};

/** Families by a part of the model id; the first match counts. */
const FAMILIES: readonly (readonly [RegExp, ModelFamily])[] = [
  [/claude-(?:v2|instant)/, OTHER_FAMILY],
  [/claude-3-(?:haiku|sonnet|opus)/, { ...CLAUDE, cachePoints: [], longCache: false }],
  [/claude-(?:3|opus-4-(?:1|20)|sonnet-4-20)/, { ...CLAUDE, longCache: false }],
  [/claude/, CLAUDE],
  [/amazon\.nova/, NOVA],
  [/openai\.gpt-oss/, { ...OTHER_FAMILY, thinking: "gpt_oss" }],
  [/openai\.gpt-/, GPT],
  [/qwen\./, { ...OTHER_FAMILY, stop: false }],
  [/meta\.llama/, { ...OTHER_FAMILY, streamsTools: false }],
  [
    /mistral-(?:large|small)-24/,
    { ...OTHER_FAMILY, forcedChoices: ["any"], streamsTools: false },
  ],
  [/mistral-large/, { ...OTHER_FAMILY, forcedChoices: ["any"] }],
];

/** Returns the family of a model. The id of an application inference profile does not contain it. */
export function getModelFamily(modelId: string): ModelFamily {
  return FAMILIES.find(([name]) => name.test(modelId))?.[1] ?? OTHER_FAMILY;
}
