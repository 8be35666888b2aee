/**
 * The application's own messages, with the code that reads them back.
 *
 * @module
 */

import type { ConvertToLlm } from "./context.ts";
import type { CustomMessage, LlmMessage } from "./message.ts";

/** What {@linkcode defineCustomMessage} takes. */
export interface CustomMessageDefinition<Data> {
  /** The application's name for this kind of message. */
  readonly type: string;
  /** Reads stored data; throws when it is not of this kind. */
  readonly decode: (data: unknown) => Data;
  /** What the model is told instead; without it, the model is told nothing. */
  readonly toLlm?: (data: Data, message: CustomMessage) => LlmMessage | null;
}

/** A kind of custom message: makes them, recognises them, converts them. */
export interface CustomMessageKind<Data> {
  /** The application's name for this kind. */
  readonly type: string;
  /** Makes a message, stamped with a time in milliseconds. */
  readonly create: (data: Data, timestamp: number) => CustomMessage;
  /** The data of a message of this kind, or `undefined` for any other message. */
  readonly read: (message: { readonly role: string }) => Data | undefined;
  /** Converts a message of this kind; leaves every other message to `next`. */
  readonly convert: (next: ConvertToLlm) => ConvertToLlm;
}

/**
 * Defines a kind of message that the history keeps and the model sees only through `toLlm`.
 *
 * @example
 * ```ts
 * import { omitCustomMessages, defineCustomMessage } from "@swink/agent";
 *
 * const note = defineCustomMessage({ type: "note", decode: (data) => String(data) });
 * const message = note.create("remember the milk", Date.now());
 * note.read(message); // "remember the milk"
 * note.convert(omitCustomMessages)(message); // null: the model does not see it
 * ```
 */
export function defineCustomMessage<Data>(
  definition: CustomMessageDefinition<Data>,
): CustomMessageKind<Data> {
  const { type, decode, toLlm } = definition;
  const isOfKind = (message: { readonly role: string }): message is CustomMessage =>
    message.role === "custom" && (message as CustomMessage).type === type;
  return {
    type,
    create: (data, timestamp) => ({ role: "custom", type, data, timestamp }),
    read: (message) => isOfKind(message) ? decode(message.data) : undefined,
    convert: (next) => (message) => {
      if (!isOfKind(message)) return next(message);
      return toLlm ? toLlm(decode(message.data), message) : null;
    },
  };
}
