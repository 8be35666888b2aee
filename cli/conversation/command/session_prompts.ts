/**
 * The prompts of a session: the points to which a conversation can return.
 *
 * @module
 */

import { extractText } from "../../../src/core/messages/content.ts";
import type { EntryOutline, Session, SessionEntry } from "../../../src/memory/mod.ts";
import { isNote } from "../../sessions/user_notes.ts";
import type { RewoundPrompt } from "./change_turn.ts";
import { getTypedPrompt } from "./typed_text.ts";

/** A message of the user in a session. */
export interface SessionPrompt {
  /** Id of its entry. */
  readonly id: string;
  /** Id of the entry before it; `null` for the first one. */
  readonly parentId: string | null;
  /** The text, without the files that were added to it. */
  readonly text: string;
}

/** A prompt of the current branch. */
export interface BranchPrompt extends SessionPrompt, RewoundPrompt {}

/** Returns the prompts of the current branch, in order. */
export async function listPrompts(session: Session): Promise<BranchPrompt[]> {
  const path = await session.path({ types: ["message"] });
  return path.flatMap((entry, index) =>
    toPrompt(entry).map((prompt) => ({
      ...prompt,
      previousTimestamp: getTimestamp(path[index - 1]),
      // The message of a text that was queued has the time at which it was sent.
      timestamp: entry.timestamp,
    }))
  );
}

function getTimestamp(entry: SessionEntry | undefined): number {
  return entry?.type === "message" ? entry.message.timestamp ?? 0 : 0;
}

/** A prompt of a branch with its depth in the tree. */
export interface PromptNode extends SessionPrompt {
  /** Number of forks above it. */
  readonly depth: number;
  /** Whether it is part of the current branch. */
  readonly isCurrent: boolean;
}

/** Returns the prompts of all branches, each after the one that it follows. */
export async function listTree(session: Session): Promise<PromptNode[]> {
  const current = new Set((await session.path()).map(({ id }) => id));
  const parents = new Map(session.outline.map(({ id, parentId }) => [id, parentId] as const));
  const prompts = new Map<string, SessionPrompt>();
  for (const outline of session.outline.filter(isMessage)) {
    const entry = await session.entry(outline.id);
    for (const prompt of entry ? toPrompt(entry) : []) prompts.set(prompt.id, prompt);
  }
  const children = Map.groupBy(
    prompts.values(),
    ({ parentId }) => findPrompt(parentId, { parents, prompts }),
  );
  const nodes: PromptNode[] = [];
  const listBranches = (parent: string | null, depth: number) => {
    const branches = children.get(parent) ?? [];
    const inner = branches.length > 1 ? depth + 1 : depth;
    return branches.map((prompt) => ({ prompt, depth: inner }));
  };
  // Not by recursion, whose depth would be the number of prompts.
  const rest = listBranches(null, 0).reverse();
  for (let next = rest.pop(); next; next = rest.pop()) {
    const { prompt, depth } = next;
    nodes.push({ ...prompt, depth, isCurrent: current.has(prompt.id) });
    for (const branch of listBranches(prompt.id, depth).reverse()) rest.push(branch);
  }
  return nodes;
}

/** Returns the id of the nearest prompt above an entry. */
function findPrompt(
  id: string | null,
  { parents, prompts }: {
    readonly parents: ReadonlyMap<string, string | null>;
    readonly prompts: ReadonlyMap<string, SessionPrompt>;
  },
): string | null {
  for (let entry = id; entry !== null; entry = parents.get(entry) ?? null) {
    if (prompts.has(entry)) return entry;
  }
  return null;
}

function isMessage({ type }: EntryOutline): boolean {
  return type === "message";
}

function toPrompt(entry: SessionEntry): SessionPrompt[] {
  if (entry.type !== "message") return [];
  const { id, parentId, message } = entry;
  if (message.role !== "user") return [];
  const text = extractText(message.content);
  return isNote(text) ? [] : [{ id, parentId, text: getTypedPrompt(message) }];
}
