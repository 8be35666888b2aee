/**
 * Media that a provider accepts.
 *
 * @module
 */

import type { MediaBlock } from "./media.ts";

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

/** Media that a provider accepts in prompts and tool results. A missing kind is not accepted. */
export type ContentAbilities = { readonly [kind in MediaBlock["type"]]?: MediaAbility | undefined };
