/**
 * A loaded model that writes text.
 *
 * @module
 */

import type { Sampling, TextEngine } from "../llama/text_engine.ts";
import type { PromptBuilder } from "../prompt/prompt_builder.ts";

/** A loaded model that writes text. */
export interface LoadedTextModel {
  readonly engine: TextEngine;
  readonly prompts: PromptBuilder;
  /** How tokens are chosen where a request does not determine it. */
  readonly sampling: Sampling;
}
