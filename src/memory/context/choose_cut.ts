/**
 * Chooses the part of a history that requests omit: the messages between an anchor and a tail.
 *
 * @module
 */

import type { AgentMessage } from "../../core/messages/message.ts";
import type { HistoryRange, MessageGroup } from "./message_groups.ts";

/** A history to cut, and the messages to keep. */
export interface CutRequest {
  /** The history. */
  readonly messages: readonly AgentMessage[];
  /** The groups of the history. */
  readonly groups: readonly MessageGroup[];
  /** Number of messages at the beginning to keep, with their groups. */
  readonly anchor: number;
  /** Number of groups at the end to keep while they fit into `maxTokens`. */
  readonly keepSteps: number;
  /** Tokens of the messages after the cut. */
  readonly targetTokens: number;
  /** Maximum tokens of the messages after the cut, used to keep `keepSteps` groups. */
  readonly maxTokens: number;
  /** Tokens of the message that a cut inserts if the conversation would not begin with one of the user. */
  readonly openingTokens: number;
  /** Position of the first message that is already omitted. */
  readonly droppedFrom: number;
  /** Position before which messages are already omitted, except the anchor and pinned messages. */
  readonly droppedUntil: number;
  /** Positions of the pinned messages between them, which are not omitted yet. */
  readonly keptAt: readonly number[];
  /** Selects messages that are always kept. */
  readonly pin: (message: AgentMessage) => boolean;
}

/** A part to omit, and the groups in it to keep. */
export interface ChosenCut extends HistoryRange {
  /** Pinned groups inside the part. */
  readonly pinned: readonly MessageGroup[];
}

/**
 * Chooses the part to omit; `undefined` if nothing more can be omitted. Takes time proportional to the number of
 * groups.
 */
export function chooseCut(request: CutRequest): ChosenCut | undefined {
  const { messages, groups, pin } = request;
  const head = countHeadGroups(request);
  const pinned = new Set(
    groups.slice(head).filter((group) => hasMatchingMessage(messages, group, pin)),
  );
  const tail = alignTailToUser(request, head, pinned);
  const from = groups[head]?.from ?? messages.length;
  const to = groups[tail]?.from ?? messages.length;
  const middle = groups.slice(head, tail);
  const isSent = createSentCheck(request);
  if (!middle.some((group) => isSent(group) && !pinned.has(group))) return undefined;
  return { from, to, pinned: middle.filter((group) => pinned.has(group)) };
}

/** Returns a check for whether requests have the messages of a group so far. */
function createSentCheck(
  { droppedFrom, droppedUntil, keptAt }: CutRequest,
): (group: MessageGroup) => boolean {
  const kept = new Set(keptAt);
  return ({ from, to }) => from < droppedFrom || to > droppedUntil || kept.has(from);
}

function hasMatchingMessage(
  messages: readonly AgentMessage[],
  { from, to }: HistoryRange,
  matches: (message: AgentMessage) => boolean,
): boolean {
  for (let position = from; position < to; position++) {
    const message = messages[position];
    if (message && matches(message)) return true;
  }
  return false;
}

/** Returns the number of groups in the anchor. Custom messages that the model gets count if it would be too long with them. */
function countHeadGroups(request: CutRequest): number {
  const { groups, maxTokens, droppedFrom } = request;
  const head = countAnchor(request, { countsCustom: false });
  const kept = groups.slice(0, head);
  let tokens = 0;
  for (const group of kept) tokens += group.tokens;
  const isPossible = tokens <= maxTokens && kept.every(({ to }) => to <= droppedFrom);
  return isPossible ? head : countAnchor(request, { countsCustom: true });
}

function countAnchor(
  { messages, groups, anchor }: CutRequest,
  { countsCustom }: { readonly countsCustom: boolean },
): number {
  let counted = 0;
  let head = 0;
  for (const { from, to, tokens } of groups) {
    if (counted >= anchor) break;
    const isCounted = countsCustom && tokens > 0;
    counted += messages.slice(from, to).filter(({ role }) => isCounted || role !== "custom").length;
    head++;
  }
  return head;
}

/** Returns the first group of the tail: the latest step is kept, earlier ones while they fit. */
function findTailStart(
  { messages, groups, keepSteps, targetTokens, maxTokens, droppedUntil }: CutRequest,
  head: number,
  pinned: ReadonlySet<MessageGroup>,
): number {
  let tokens = 0;
  for (const group of groups.slice(0, head)) tokens += group.tokens;
  for (const group of pinned) tokens += group.tokens;
  const latest = findLatestStep(messages, groups);
  let tail = groups.length;
  for (let next = tail - 1; next >= head; next--) {
    const group = groups[next];
    if (!group || group.from < droppedUntil) break;
    const kept = groups.length - tail;
    const limit = kept < keepSteps ? maxTokens : targetTokens;
    const cost = pinned.has(group) ? 0 : group.tokens;
    if (next < latest && tokens + cost > limit) break;
    tokens += cost;
    tail = next;
  }
  return tail;
}

/**
 * Returns the group of the latest step. Later custom messages do not take its place, since the model may not get them, and
 * neither does a reply that was cut off, since `continue()` sends its prompt again.
 */
function findLatestStep(
  messages: readonly AgentMessage[],
  groups: readonly MessageGroup[],
): number {
  const isStep = ({ from }: HistoryRange) => messages[from]?.role !== "custom";
  const last = groups.findLastIndex(isStep);
  const group = groups[last];
  if (!group || group.to > group.from + 1 || !isCutOff(messages[group.from])) return last;
  return Math.max(0, groups.slice(0, last).findLastIndex(isStep));
}

function isCutOff(message: AgentMessage | undefined): boolean {
  return message?.role === "assistant" &&
    (message.stopReason === "aborted" || message.stopReason === "error");
}

/**
 * Returns the start of the tail at a user message if there is no anchor, since providers require one at the beginning. If
 * the messages from there do not fit, the cut inserts one.
 */
function alignTailToUser(
  request: CutRequest,
  head: number,
  pinned: ReadonlySet<MessageGroup>,
): number {
  const { messages, groups, targetTokens, maxTokens, openingTokens, droppedUntil } = request;
  const tail = findTailStart(request, head, pinned);
  if (head > 0) return tail;
  const isUser = ({ from }: MessageGroup) => messages[from]?.role === "user";
  const later = groups.findIndex((group, index) => index >= tail && isUser(group));
  if (later >= 0) return later;
  const earlier = groups.findLastIndex((group, index) => index < tail && isUser(group));
  const kept = groups.filter((group, index) => index >= earlier || pinned.has(group));
  let tokens = 0;
  for (const group of kept) tokens += group.tokens;
  const isPossible = (groups[earlier]?.from ?? -1) >= droppedUntil && tokens <= maxTokens;
  if (isPossible) return earlier;
  const remaining = {
    targetTokens: targetTokens - openingTokens,
    maxTokens: maxTokens - openingTokens,
  };
  return findTailStart({ ...request, ...remaining }, head, pinned);
}
