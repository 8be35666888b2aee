/**
 * Containers, in which Anthropic executes code. A request names the container of earlier replies, whose files and pending
 * executions would be lost otherwise.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../src/core/json/json.ts";
import type { LlmMessage } from "../../src/core/messages/message.ts";
import type { ModelSpec } from "../../src/core/models/model.ts";
import type { StreamOptions } from "../../src/core/streams/stream.ts";
import { isOwnReply } from "../kit/request/history.ts";
import { EXTENSION_PREFIX, type WireContainer } from "./wire.ts";

/** Type of the extension block that stores the container of a reply. It is no block of a request. */
export const CONTAINER = `${EXTENSION_PREFIX}container`;

/** Model and time of a request. */
export interface ContainerOptions {
  /** The requested model. */
  readonly model: ModelSpec;
  /** Current time in milliseconds since the epoch. */
  readonly now: number;
}

/** Returns the id of the last container of a conversation; `undefined` if there is none or it has expired. */
export function findContainer(
  messages: readonly LlmMessage[],
  { model, now }: ContainerOptions,
): string | undefined {
  const containers = messages.flatMap((message) =>
    message.role === "assistant" && isOwnReply(message, model)
      ? message.content.flatMap((block) => block.type === "extension" ? block : [])
      : []
  ).filter(({ typeName }) => typeName === CONTAINER);
  const data = containers.at(-1)?.data;
  const { id, expires_at: expiry }: WireContainer = isJsonObject(data) ? data : {};
  const isExpired = Date.parse(String(expiry)) <= now;
  return typeof id === "string" && id !== "" && !isExpired ? id : undefined;
}

/**
 * Returns the field of a request that names a container: none without tools of the provider, and none if the caller has
 * chosen a container. The caller's skills are merged into the field.
 */
export function toContainerField(
  id: string | undefined,
  { serverTools = [], extra = {} }: StreamOptions,
): string | JsonObject | undefined {
  const { container, tools } = extra;
  const hasServerTools = serverTools.length > 0 || tools !== undefined;
  if (id === undefined || !hasServerTools) return undefined;
  if (container === undefined) return id;
  return isJsonObject(container) && container["id"] === undefined ? { id } : undefined;
}
