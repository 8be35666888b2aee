/**
 * The families of models behind Bedrock: one API, but not everybody takes everything.
 *
 * @module
 */

/** What a family takes. */
export interface ModelFamily {
  /** How its thinking is controlled. */
  readonly thinking: "claude" | "nova" | "openai" | "none";
  /** Where the end of a cached prefix may be marked. */
  readonly cachePoints: readonly ("system" | "tools" | "messages")[];
  /** Whether a cached prefix may be kept for an hour. */
  readonly longCache: boolean;
  /** Whether the result of a tool has a status; elsewhere its words have to tell of an error. */
  readonly resultStatus: boolean;
  /** Whether it goes on with a reply that the request ends with. */
  readonly prefill: boolean;
}

const OTHER_FAMILY: ModelFamily = {
  thinking: "none",
  cachePoints: [],
  longCache: false,
  resultStatus: false,
  prefill: false,
};
const CLAUDE: ModelFamily = {
  thinking: "claude",
  cachePoints: ["system", "tools", "messages"],
  longCache: true,
  resultStatus: true,
  prefill: true,
};
const NOVA: ModelFamily = {
  ...OTHER_FAMILY,
  thinking: "nova",
  cachePoints: ["system", "messages"],
  resultStatus: true,
};

/** By a part of the model's name. */
const FAMILIES: readonly (readonly [RegExp, ModelFamily])[] = [
  [/claude-(?:v2|instant)/, OTHER_FAMILY],
  [/claude-3-(?:haiku|sonnet|opus)/, { ...CLAUDE, cachePoints: [], longCache: false }],
  [/claude-(?:3|opus-4-(?:1|20)|sonnet-4-20)/, { ...CLAUDE, longCache: false }],
  [/claude/, CLAUDE],
  [/amazon\.nova/, NOVA],
  [/openai\.gpt-oss/, { ...OTHER_FAMILY, thinking: "openai" }],
];

/** The family of a model; an inference profile of one's own does not tell it. */
export function getModelFamily(modelId: string): ModelFamily {
  return FAMILIES.find(([name]) => name.test(modelId))?.[1] ?? OTHER_FAMILY;
}
