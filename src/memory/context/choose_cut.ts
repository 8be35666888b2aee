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
  /** Maximum tokens of the messages after the cut, used to keep the prompt of a reply that was cut off. */
  readonly limitTokens: number;
  /** Maximum tokens of the messages after the cut, used to keep the latest messages that no reply has answered. */
  readonly unansweredTokens: number;
  /** Tokens of the message that a cut inserts if the conversation would not begin with one of the user. */
  readonly openingTokens: number;
  /** The part that is already omitted. Default: none. */
  readonly omitted: OmittedPart | undefined;
  /** Selects messages that are always kept. */
  readonly pin: (message: AgentMessage) => boolean;
}

/** A part that requests do not have, apart from its pinned messages. */
export interface OmittedPart extends HistoryRange {
  /** Positions of the pinned messages. */
  readonly pinnedAt: readonly number[];
}

/** A part to omit, and the groups in it to keep. */
export interface ChosenCut extends HistoryRange {
  /** Pinned groups inside the part. */
  readonly pinned: readonly HistoryRange[];
}

/**
 * Chooses the part to omit; `undefined` if nothing more can be omitted. Takes time proportional to the number of
 * groups.
 */
export function chooseCut(request: CutRequest): ChosenCut | undefined {
  const { messages, groups, pin } = request;
  const selected = groups.filter((group) => hasMatchingMessage(messages, group, pin));
  const head = countHeadGroups(request, selected);
  const pinned = new Set(selected.filter(({ from }) => from >= (groups[head]?.from ?? Infinity)));
  const tail = alignTailToUser(request, head, pinned);
  const from = groups[head]?.from ?? messages.length;
  const to = groups[tail]?.from ?? messages.length;
  const middle = groups.slice(head, tail);
  const isSent = createSentCheck(request);
  if (!middle.some((group) => isSent(group) && !pinned.has(group))) return undefined;
  return { from, to, pinned: middle.filter((group) => pinned.has(group)) };
}

/** Returns a check for whether requests have the messages of a group so far. */
function createSentCheck({ omitted }: CutRequest): (group: MessageGroup) => boolean {
  if (!omitted) return () => true;
  const kept = new Set(omitted.pinnedAt);
  return ({ from, to }) => from < omitted.from || to > omitted.to || kept.has(from);
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

/**
 * Returns the number of groups in the anchor. Custom messages that the model gets count if the request would be too long
 * with them.
 */
function countHeadGroups(request: CutRequest, pinned: readonly MessageGroup[]): number {
  const { messages, groups, maxTokens, limitTokens, omitted } = request;
  const head = countAnchor(request, { countsCustom: false });
  const kept = groups.slice(0, head);
  const latest = groups.slice(findLatestStep(messages, groups, groups.length));
  const required = new Set([...kept, ...pinned, ...latest]);
  const isPossible = countTokens(kept) <= maxTokens && countTokens(required) <= limitTokens &&
    kept.every(({ to }) => !omitted || to <= omitted.from);
  return isPossible ? head : countAnchor(request, { countsCustom: true });
}

function countTokens(groups: Iterable<MessageGroup>): number {
  let tokens = 0;
  for (const group of groups) tokens += group.tokens;
  return tokens;
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
  request: CutRequest,
  head: number,
  pinned: ReadonlySet<MessageGroup>,
): number {
  const { messages, groups, keepSteps, targetTokens, maxTokens, limitTokens, omitted } = request;
  const required = [...groups.slice(0, head), ...pinned];
  let tokens = countTokens(required);
  const latest = findLatestStep(messages, groups, groups.length);
  const input = findInput(request, latest, required);
  let tail = groups.length;
  for (let next = tail - 1; next >= head; next--) {
    const group = groups[next];
    if (!group || group.from < (omitted?.to ?? 0)) break;
    const kept = groups.length - tail;
    const stepLimit = kept < keepSteps ? maxTokens : targetTokens;
    const limit = next >= input ? limitTokens : stepLimit;
    const cost = pinned.has(group) ? 0 : group.tokens;
    if (next < latest && tokens + cost > limit) break;
    tokens += cost;
    tail = next;
  }
  return tail;
}

/** Returns the latest step before a group. Custom messages are none, since the model may not get them. */
function findLatestStep(
  messages: readonly AgentMessage[],
  groups: readonly MessageGroup[],
  before: number,
): number {
  return groups.slice(0, before).findLastIndex(({ from }) => messages[from]?.role !== "custom");
}

/**
 * Returns the first of the steps that the next reply answers, if all of them fit, or else the last one. A reply that was
 * cut off may follow.
 */
function findInput(
  { messages, groups, unansweredTokens }: CutRequest,
  latest: number,
  required: readonly MessageGroup[],
): number {
  const prompt = isCutOff(messages, groups[latest])
    ? findLatestStep(messages, groups, latest)
    : latest;
  const unanswered = findUnanswered(messages, groups, prompt);
  const kept = new Set([...required, ...groups.slice(unanswered)]);
  return countTokens(kept) <= unansweredTokens ? unanswered : prompt;
}

/** Returns the first of the steps up to a prompt that no reply has answered: other prompts, and tool results before all. */
function findUnanswered(
  messages: readonly AgentMessage[],
  groups: readonly MessageGroup[],
  prompt: number,
): number {
  let first = prompt;
  for (let next = prompt - 1; next >= 0; next--) {
    if (!hasRole(messages, groups[first], "user")) break;
    if (hasRole(messages, groups[next], "custom")) continue;
    if (isReplyWithoutResults(messages, groups[next])) break;
    first = next;
  }
  return first;
}

/** Whether a step is a reply that was cut off, whose prompt `continue()` sends again. */
function isCutOff(messages: readonly AgentMessage[], group: MessageGroup | undefined): boolean {
  const message = group && messages[group.from];
  return isReplyWithoutResults(messages, group) && message?.role === "assistant" &&
    (message.stopReason === "aborted" || message.stopReason === "error");
}

function isReplyWithoutResults(
  messages: readonly AgentMessage[],
  group: MessageGroup | undefined,
): boolean {
  return group?.to === (group?.from ?? 0) + 1 && hasRole(messages, group, "assistant");
}

function hasRole(
  messages: readonly AgentMessage[],
  group: MessageGroup | undefined,
  role: AgentMessage["role"],
): boolean {
  return group !== undefined && messages[group.from]?.role === role;
}

/**
 * Returns the start of the tail at a user message if there is no anchor, since providers require one at the beginning. If
 * the messages from there do not fit, or would lack a step to keep, the cut inserts one.
 */
function alignTailToUser(
  request: CutRequest,
  head: number,
  pinned: ReadonlySet<MessageGroup>,
): number {
  const { messages, groups, keepSteps, omitted } = request;
  const { targetTokens, maxTokens, limitTokens, unansweredTokens, openingTokens } = request;
  const tail = findTailStart(request, head, pinned);
  if (head > 0) return tail;
  const withOpening = {
    ...request,
    targetTokens: targetTokens - openingTokens,
    maxTokens: maxTokens - openingTokens,
    limitTokens: limitTokens - openingTokens,
    unansweredTokens: unansweredTokens - openingTokens,
  };
  const isUser = ({ from }: MessageGroup) => messages[from]?.role === "user";
  const opening = groups.find((group, index) =>
    index < tail && pinned.has(group) && messages[group.from]?.role !== "custom"
  );
  if (opening) {
    return isUser(opening) ? tail : findTailStart(withOpening, head, pinned);
  }
  const later = groups.findIndex((group, index) => index >= tail && isUser(group));
  const latest = findLatestStep(messages, groups, groups.length);
  const input = findInput(request, latest, [...pinned]);
  if (later >= 0 && later <= Math.max(tail, Math.min(input, groups.length - keepSteps))) {
    return later;
  }
  const earlier = groups.findLastIndex((group, index) => index < tail && isUser(group));
  const kept = groups.filter((group, index) => index >= earlier || pinned.has(group));
  const isPossible = (groups[earlier]?.from ?? -1) >= (omitted?.to ?? 0) &&
    countTokens(kept) <= maxTokens;
  if (isPossible) return earlier;
  return findTailStart(withOpening, head, pinned);
}
