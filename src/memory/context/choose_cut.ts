/**
 * Which part of a history a request leaves out: an anchor and a tail stay.
 *
 * @module
 */

import type { AgentMessage } from "../../core/message.ts";
import type { HistoryRange, MessageGroup } from "./message_groups.ts";

/** A history to be cut, and what must stay. */
export interface CutRequest {
  /** The history. */
  readonly messages: readonly AgentMessage[];
  /** Its groups. */
  readonly groups: readonly MessageGroup[];
  /** How many messages at the beginning stay, with the groups they are in; custom ones are not counted. */
  readonly anchor: number;
  /** How many groups at the end stay as long as they fit `most`. */
  readonly keepSteps: number;
  /** Tokens that the messages may take afterwards. */
  readonly targetTokens: number;
  /** Tokens that they may take at most, for the sake of `keepSteps`. */
  readonly maxTokens: number;
  /** Everything before this position is left out already, the anchor and pinned messages excepted. */
  readonly droppedUntil: number;
  /** Messages that stay wherever they are. */
  readonly pin: (message: AgentMessage) => boolean;
}

/** A part to be left out, and what stays of it. */
export interface ChosenCut extends HistoryRange {
  /** Groups inside the part that are pinned and stay. */
  readonly pinned: readonly MessageGroup[];
}

/**
 * Chooses the part to leave out, or nothing when everything must stay or has gone already. Takes time in
 * proportion to the number of groups.
 */
export function chooseCut(request: CutRequest): ChosenCut | undefined {
  const { messages, groups, droppedUntil: leftOutTo, pin } = request;
  const head = countHeadGroups(request);
  const pinned = new Set(
    groups.slice(head).filter((group) => hasMatchingMessage(messages, group, pin)),
  );
  const tail = alignTailToUser(request, head, findTailStart(request, head, pinned));
  const from = groups[head]?.from ?? messages.length;
  const to = groups[tail]?.from ?? messages.length;
  const inside = groups.slice(head, tail);
  const gone = inside.filter((group) => group.to > leftOutTo && !pinned.has(group));
  if (gone.length === 0) return undefined;
  return { from, to, pinned: inside.filter((group) => pinned.has(group)) };
}

function hasMatchingMessage(
  messages: readonly AgentMessage[],
  { from, to }: HistoryRange,
  is: (message: AgentMessage) => boolean,
): boolean {
  for (let position = from; position < to; position++) {
    const message = messages[position];
    if (message && is(message)) return true;
  }
  return false;
}

/** How many groups the anchor takes. */
function countHeadGroups({ messages, groups, anchor }: CutRequest): number {
  let counted = 0;
  let head = 0;
  for (const { from, to } of groups) {
    if (counted >= anchor) break;
    counted += messages.slice(from, to).filter(({ role }) => role !== "custom").length;
    head++;
  }
  return head;
}

/** Where the tail begins: the newest group stays, the others as far as there is room. */
function findTailStart(
  { groups, keepSteps, targetTokens: goal, maxTokens: most, droppedUntil: leftOutTo }: CutRequest,
  head: number,
  pinned: ReadonlySet<MessageGroup>,
): number {
  let tokens = 0;
  for (const group of groups.slice(0, head)) tokens += group.tokens;
  for (const group of pinned) tokens += group.tokens;
  let tail = groups.length;
  for (let next = tail - 1; next >= head; next--) {
    const group = groups[next];
    if (!group || group.from < leftOutTo) break;
    const kept = groups.length - tail;
    const room = kept < keepSteps ? most : goal;
    const cost = pinned.has(group) ? 0 : group.tokens;
    if (kept > 0 && tokens + cost > room) break;
    tokens += cost;
    tail = next;
  }
  return tail;
}

/** Without an anchor, what stays begins with a user's message, as providers want it. */
function alignTailToUser({ messages, groups }: CutRequest, head: number, tail: number): number {
  if (head > 0) return tail;
  const isUser = ({ from }: MessageGroup) => messages[from]?.role === "user";
  const later = groups.findIndex((group, at) => at >= tail && isUser(group));
  if (later >= 0) return later;
  const earlier = groups.findLastIndex((group, at) => at < tail && isUser(group));
  return earlier >= 0 ? earlier : tail;
}
