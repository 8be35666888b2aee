/**
 * Messages of the application, with typed data.
 *
 * @module
 */

import { BadRequestError } from "../errors/errors.ts";
import type { CustomMessage, LlmMessage } from "../messages/message.ts";
import type { ConvertToLlm } from "./context.ts";

/** Definition of a kind of custom message, for {@linkcode defineCustomMessage}. */
export interface CustomMessageDefinition<Data> {
  /** Name of this kind, unique in the application. */
  readonly type: string;
  /** Validates stored data and returns it with its type; throws if it is invalid. */
  readonly decode: (data: unknown) => Data;
  /** Converts the message for the model; `null` omits it. Default: omits every message of this kind. */
  readonly toLlm?: ((data: Data, message: CustomMessage) => LlmMessage | null) | undefined;
}

/** A kind of custom message. */
export interface CustomMessageKind<Data> {
  /** Name of this kind. */
  readonly type: string;
  /** Creates a message; `timestamp` is in milliseconds since the epoch. */
  readonly create: (data: Data, timestamp: number) => CustomMessage;
  /**
   * Returns the decoded data of a message of this kind, or `undefined` for any other message. Throws if `decode` does.
   */
  readonly read: (message: { readonly role: string }) => Data | undefined;
  /** Returns a {@linkcode ConvertToLlm} that converts messages of this kind and passes the others to `next`. */
  readonly convert: (next: ConvertToLlm) => ConvertToLlm;
}

/**
 * Defines a kind of message that is part of the history and reaches the model only through `toLlm`.
 *
 * @example
 * ```ts
 * import { defineCustomMessage } from "@swink/agent";
 * import { omitCustomMessages } from "@swink/agent/loop";
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
  const { type, decode, toLlm } = definition ?? {};
  if (typeof type !== "string" || typeof decode !== "function") {
    throw new BadRequestError("A custom message must have a type and a function decode");
  }
  const isThisKind = (message: { readonly role: string }): message is CustomMessage =>
    message.role === "custom" && (message as CustomMessage).type === type;
  return {
    type,
    create: (data, timestamp) => ({ role: "custom", type, data, timestamp }),
    read: (message) => isThisKind(message) ? decode(message.data) : undefined,
    convert: (next) => (message) => {
      if (!isThisKind(message)) return next(message);
      return toLlm ? toLlm(decode(message.data), message) : null;
    },
  };
}
