/**
 * A cut that is applied to the messages of every request.
 *
 * @module
 */

import type { AgentMessage } from "../../core/messages/message.ts";
import type { ChosenCut } from "./choose_cut.ts";
import type { ContextCut, CutMessages } from "./compaction.ts";
import {
  createMessageCheck,
  isSameMessage,
  locateMessage,
  locateMessages,
  type MessageReference,
  skipResults,
} from "./locate_message.ts";
import { type CountTokens, groupMessages, type HistoryRange } from "./message_groups.ts";
import { createSummaryMessages } from "./summary_messages.ts";

/** A cut, with the messages that identify its place in a history. */
export interface AppliedCut extends HistoryRange, CutMessages {
  /** The messages in the part that are kept. */
  readonly pinned: readonly AgentMessage[];
  /** Their positions. */
  readonly pinnedAt: readonly number[];
  /** The messages in the part. */
  readonly part: readonly AgentMessage[];
  /** The messages that replace the part: the summary and the pinned messages. */
  readonly replacement: readonly AgentMessage[];
  /** Number of messages when the cut was made. */
  readonly length: number;
}

/** Creates a cut of a history; `undefined` if it omits nothing. */
export function createCut(
  messages: readonly AgentMessage[],
  chosen: ChosenCut,
  { summary, isIncomplete, length = countLasting(messages, chosen.to) }: Pick<
    ContextCut,
    "summary" | "isIncomplete" | "length"
  > = {},
): AppliedCut | undefined {
  const { from, to } = chosen;
  const first = messages[from];
  const last = messages[to - 1];
  if (!first || !last || from >= to) return undefined;
  const pinnedAt = chosen.pinned.flatMap((group) =>
    Array.from({ length: group.to - group.from }, (_, index) => group.from + index)
  );
  const pinned = pinnedAt.flatMap((position) => messages[position] ?? []);
  // Later messages must not change the replacement, whose beginning the provider has cached.
  const known = messages.slice(0, length);
  const summaryMessages = createSummaryMessages(known, { cut: chosen, summary });
  return {
    from,
    to,
    first,
    last,
    newest: messages[length - 1],
    length,
    pinned,
    pinnedAt,
    part: messages.slice(from, to),
    replacement: [...summaryMessages, ...pinned],
    ...(summary !== undefined && { summary }),
    ...(isIncomplete && { isIncomplete }),
  };
}

/** Returns the number of messages up to the latest of the conversation, or of all if that is omitted. */
function countLasting(messages: readonly AgentMessage[], to: number): number {
  const latest = messages.findLastIndex(isLasting);
  return latest < to ? messages.length : latest + 1;
}

/**
 * Whether a message is a reply or has an id, as those of the conversation: one that a transform adds to the end of each
 * request, such as the time, is not found again, or at another place.
 */
function isLasting({ id, role }: AgentMessage): boolean {
  return id !== undefined || role === "assistant";
}

/** Returns the part that a cut omits. */
export function toChosenCut({ from, to, pinnedAt }: AppliedCut): ChosenCut {
  return { from, to, pinned: pinnedAt.map((position) => ({ from: position, to: position + 1 })) };
}

/** Whether the messages of a cut are at its positions. */
export function isCutIn(
  messages: readonly AgentMessage[],
  { from, to, length, first, last, newest, pinned, pinnedAt }: AppliedCut,
): boolean {
  const isAt = (message: AgentMessage | undefined, position: number) => {
    const found = messages[position];
    return found !== undefined && message !== undefined && isSameMessage(found, message);
  };
  return isAt(first, from) && isAt(last, to - 1) && isAt(newest, length - 1) &&
    pinned.every((message, index) => isAt(message, pinnedAt[index] ?? -1)) &&
    hasLaterStep(messages, to);
}

/** Returns a cut with the pinned messages as a history has them, which may be others with the same ids. */
export function updatePinned(messages: readonly AgentMessage[], cut: AppliedCut): AppliedCut {
  const isCurrent = cut.pinned.every((message, index) =>
    message === messages[cut.pinnedAt[index] ?? -1]
  );
  return isCurrent ? cut : createCut(messages, toChosenCut(cut), cut) ?? cut;
}

/** Options for {@linkcode relocateCut}. */
export interface RelocateOptions {
  /** Selects messages that are always kept. */
  readonly pin: (message: AgentMessage) => boolean;
  /** Estimates the tokens of a message. */
  readonly countTokens: CountTokens;
}

/** The messages at which a cut is found again. */
export interface CutReference extends Pick<ContextCut, "summary" | "isIncomplete"> {
  /** The first omitted message. */
  readonly first: MessageReference;
  /** The last omitted message. */
  readonly last: MessageReference;
  /** The latest message when the cut was made. */
  readonly newest?: MessageReference | undefined;
  /** The messages in the part that requests keep, also if `pin` does not select them any longer. */
  readonly pinned: readonly MessageReference[];
  /** All messages in the part, of which the host may have removed the first or the last. Default: unknown. */
  readonly part?: readonly AgentMessage[];
  /** The messages after the part in the latest history that had it. Default: none that is known. */
  readonly later?: readonly AgentMessage[];
}

/**
 * Finds a cut in a history that is not the one it was made for: an earlier process stored it, repairs inserted messages,
 * the host edits it, or another transform omits some. Returns `undefined` if no end of the cut is found, no step follows
 * it, or the host has removed all from one of the omitted messages on.
 */
export function relocateCut(
  messages: readonly AgentMessage[],
  cut: CutReference,
  { pin, countTokens }: RelocateOptions,
): AppliedCut | undefined {
  const { first, last } = locateEnds(messages, cut);
  if (first < 0 || last < 0) return undefined;
  const from = skipResults(messages, first);
  const to = skipResults(messages, last + 1);
  if (from >= to || !hasLaterStep(messages, to)) return undefined;
  const wasPinned = createMessageCheck(cut.pinned);
  const part = groupMessages(messages, countTokens).filter((group) =>
    group.from >= from && group.to <= to
  );
  const wasKept = new Set(part.filter((group) => hasMessage(messages, group, wasPinned)));
  const pinned = part.filter((group) => wasKept.has(group) || hasMessage(messages, group, pin));
  const newest = cut.newest ? locateMessage(messages, cut.newest) : -1;
  // No reply has answered a request with other pinned messages. Custom ones may be in no request.
  const isSame = newest >= to - 1 &&
    pinned.every((group) => wasKept.has(group) || messages[group.from]?.role === "custom");
  const length = isSame ? newest + 1 : countLasting(messages, to);
  return createCut(messages, { from, to, pinned }, { ...cut, length });
}

/** Returns the positions of the first and the last omitted message that a history has; -1 for none. */
function locateEnds(
  messages: readonly AgentMessage[],
  { first, last, later = [], part = [] }: CutReference,
): { readonly first: number; readonly last: number } {
  const ends = { first: locateMessage(messages, first), last: locateMessage(messages, last) };
  if (ends.first >= 0 && ends.last >= 0) return ends;
  // The conversation ends earlier now, and its summary is about messages that are no part of it.
  const isMissing = (found: number) => found < 0;
  if (ends.last < 0 && locateMessages(messages, later.filter(isLasting)).every(isMissing)) {
    return ends;
  }
  const positions = locateMessages(messages, part).filter((position) => position >= 0);
  return {
    first: ends.first < 0 ? positions[0] ?? -1 : ends.first,
    last: ends.last < 0 ? positions.at(-1) ?? -1 : ends.last,
  };
}

/** Whether a step follows a position, so that a cut up to there keeps the latest one. Custom messages are none. */
function hasLaterStep(messages: readonly AgentMessage[], position: number): boolean {
  return messages.slice(position).some(({ role }) => role !== "custom");
}

function hasMessage(
  messages: readonly AgentMessage[],
  { from, to }: HistoryRange,
  matches: (message: AgentMessage, position: number) => boolean,
): boolean {
  return messages.slice(from, to).some((message, index) => matches(message, from + index));
}

/** Returns the messages of a cut, expected at its positions. */
export function toReference(
  { first, last, newest, pinned = [], ...others }: CutMessages | AppliedCut,
): CutReference {
  const unknown = { from: -1, to: 0, length: 0 };
  const cut = "from" in others ? others : { ...others, ...unknown };
  const { from, to, length } = cut;
  return {
    ...cut,
    first: { message: first, expectedAt: from },
    last: { message: last, expectedAt: to - 1 },
    newest: newest && { message: newest, expectedAt: length - 1 },
    pinned: pinned.map((message) => ({ message, expectedAt: -1 })),
  };
}

/** Returns the messages of a stored cut. */
export function parseContextCut(
  { from, to, firstId, lastId, length, newestId, pinned = [], ...cut }: ContextCut,
): CutReference {
  const withId = (id: string | undefined) => id === undefined ? undefined : { id };
  return {
    ...cut,
    first: { message: withId(firstId), expectedAt: from },
    last: { message: withId(lastId), expectedAt: to - 1 },
    newest: length === undefined
      ? undefined
      : { message: withId(newestId), expectedAt: length - 1 },
    pinned: pinned.map((kept) =>
      typeof kept === "string"
        ? { message: withId(kept), expectedAt: -1 }
        : { message: undefined, expectedAt: kept }
    ),
  };
}

/** Returns a cut as a JSON value. */
export function toContextCut(cut: AppliedCut): ContextCut {
  const { from, to, first, last, newest, length, summary, isIncomplete } = cut;
  const pinned = cut.pinned.flatMap(({ id }, index) => id ?? cut.pinnedAt[index] ?? []);
  return {
    from,
    to,
    ...(first.id !== undefined && { firstId: first.id }),
    ...(last.id !== undefined && { lastId: last.id }),
    length,
    ...(newest?.id !== undefined && { newestId: newest.id }),
    ...(pinned.length > 0 && { pinned }),
    ...(summary !== undefined && { summary }),
    ...(isIncomplete && { isIncomplete }),
  };
}
