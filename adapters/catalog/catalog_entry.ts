/**
 * What is known of one model.
 *
 * @module
 */

import type { Rates } from "../../src/core/usage.ts";

/** How hard a model thinks, as providers name it, from none to most. */
export type ThinkingEffort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/**
 * How a model that thinks by effort is told not to think: by saying nothing, by a setting of that name, or not at
 * all. (OpenAI's `none` is an effort.)
 */
export type ThinkingOff = "default" | "disabled" | "between_tools" | "never";

/** How a model's reasoning is controlled. */
export type ThinkingAbility =
  | { readonly type: "none" }
  | {
    /** By a number of tokens. */
    readonly type: "budget";
    /** Fewest tokens. */
    readonly min: number;
    /** Most tokens. */
    readonly max: number;
  }
  | {
    /** By a word. */
    readonly type: "effort";
    /** The words that it takes, from least to most. */
    readonly efforts: readonly ThinkingEffort[];
    /** How it is turned off. Default: `"default"`. */
    readonly off?: ThinkingOff;
  };

/** What is known of one model. */
export interface CatalogEntry {
  /** Tokens of prompt and reply together. */
  readonly contextWindow: number;
  /** Most tokens of a reply. */
  readonly maxOutput: number;
  /** How its reasoning is controlled. */
  readonly thinking: ThinkingAbility;
  /** Whether it sees images. */
  readonly images: boolean;
  /** Whether the provider can hold its reply to a JSON Schema. */
  readonly strictSchema: boolean;
  /** Whether it takes a temperature. Default: `true`. */
  readonly temperature?: boolean;
  /** Whether it can be made to call a tool. Default: `true`. */
  readonly forcedToolChoice?: boolean;
  /** Whether it goes on with a reply that the request ends with. Default: `true`. */
  readonly prefill?: boolean;
  /** Whether its thinking is refused once anything before it has changed. Default: `false`. */
  readonly contextBoundThinking?: boolean;
  /** The API that it is best asked with, where a provider has several. */
  readonly api?: "chat" | "responses";
  /** Prices in US dollars. */
  readonly rates?: Rates;
  /** Day on which the prices were looked up, as `YYYY-MM-DD`. */
  readonly priceDate?: string;
}

/** Models by `provider/modelId`. */
export type Catalog = Readonly<Record<string, CatalogEntry>>;
