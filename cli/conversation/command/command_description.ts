/**
 * Descriptions of the commands of a conversation.
 *
 * @module
 */

/** The names and the effect of a command. */
export interface CommandDescription {
  /** Its names with their sign, such as `#help` and `/help`; the first one is that of the documentation. */
  readonly names: readonly [string, ...string[]];
  /** Its argument in help texts, such as `[N]`. Default: none. */
  readonly argument?: string;
  /** Its effect, in one sentence without a full stop. */
  readonly summary: string;
  /** The key with the same effect, such as `F1`. Default: none. */
  readonly key?: string;
}
