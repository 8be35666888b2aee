/**
 * Media that a provider accepts.
 *
 * @module
 */

import type { ReplayRules } from "./replay_rules.ts";

/** Forms in which a provider accepts one kind of media. */
export interface MediaAbility {
  /** Matches the media types that are accepted as base64. */
  readonly types: RegExp;
  /** Matches the URLs that the provider fetches. Default: none. */
  readonly urls?: RegExp;
  /** Matches the media types that the provider fetches, for documents and audio. Default: `types`. */
  readonly urlTypes?: RegExp;
  /** Whether files at the provider can be named by their id. Default: `false`. */
  readonly files?: boolean;
  /** Whether the model can cite a document. Default: `false`. */
  readonly citations?: boolean;
}

/** Content that a provider accepts in prompts and tool results; a missing kind is not accepted. */
export interface ContentAbilities {
  /** Images. */
  readonly image?: MediaAbility | undefined;
  /** Documents. */
  readonly document?: MediaAbility | undefined;
  /** Audio clips. */
  readonly audio?: MediaAbility | undefined;
  /** Forms of the parts of earlier replies of the requested model. Default: they are not checked. */
  readonly replies?: ReplayRules | undefined;
}
