/**
 * Entries of the model catalog.
 *
 * @module
 */

import type { Rates } from "../../src/core/models/usage.ts";

/** Thinking effort in the terms of the providers, from lowest to highest. */
export type ThinkingEffort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/**
 * How to turn off the thinking of a model that thinks by effort: `default` omits the setting, `disabled` and
 * `between_tools` are sent as its type, and `never` means that it cannot be turned off. OpenAI's `none` is an effort.
 */
export type ThinkingOff = "default" | "disabled" | "between_tools" | "never";

/** How the thinking of a model is controlled. */
export type ThinkingAbility =
  | { readonly type: "none" }
  | {
    readonly type: "budget";
    /** Minimum number of thinking tokens. */
    readonly min: number;
    /** Maximum number of thinking tokens. */
    readonly max: number;
  }
  | {
    readonly type: "effort";
    /** Supported efforts, from lowest to highest. */
    readonly efforts: readonly ThinkingEffort[];
    /** How thinking is turned off. Default: `"default"`. */
    readonly off?: ThinkingOff;
  };

/** Limits, abilities and prices of one model. */
export interface CatalogEntry {
  /** Context window in tokens, prompt and reply together. */
  readonly contextWindow: number;
  /** Maximum length of a reply in tokens. */
  readonly maxOutput: number;
  /** How its thinking is controlled. */
  readonly thinking: ThinkingAbility;
  /** Whether it accepts images. */
  readonly images: boolean;
  /** Whether the provider can enforce a JSON Schema on its replies. */
  readonly strictSchema: boolean;
  /** Whether it supports a temperature. Default: `true`. */
  readonly temperature?: boolean;
  /** Whether a tool call can be forced. Default: `true`. */
  readonly forcedToolChoice?: boolean;
  /** Whether it can continue an assistant message at the end of the request. Default: `true`. */
  readonly prefill?: boolean;
  /** Whether the provider rejects thinking whose preceding messages have changed. Default: `false`. */
  readonly contextBoundThinking?: boolean;
  /** Preferred API, for a provider with several. */
  readonly api?: "chat" | "responses";
  /** Prices in US dollars per million tokens. */
  readonly rates?: Rates;
  /**
   * Factors of the prices by the prefix of a cross-region inference profile of Bedrock, such as `eu`. Default of each: 1.
   */
  readonly regionFactors?: Readonly<Record<string, number>>;
  /** Date of the prices and of the fees of server tools, as `YYYY-MM-DD`. */
  readonly priceDate?: string;
  /** Page that the prices and the fees of server tools are from. */
  readonly priceSource?: string;
}

/** Models by `provider/modelId`. */
export type Catalog = Readonly<Record<string, CatalogEntry>>;
