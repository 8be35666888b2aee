/**
 * Computes the shortest edit script between two lists of lines with Myers' algorithm ("An O(ND) Difference Algorithm
 * and Its Variations", 1986).
 *
 * @module
 */

/** Replaces the lines `[beforeStart, beforeEnd)` with `[afterStart, afterEnd)`; lines between edits are equal. */
export interface LineEdit {
  /** Index of the first removed line. */
  readonly beforeStart: number;
  /** Index after the last removed line. */
  readonly beforeEnd: number;
  /** Index of the first added line. */
  readonly afterStart: number;
  /** Index after the last added line. */
  readonly afterEnd: number;
}

/**
 * Maximum number of changed lines, since the search takes quadratic time; texts that differ in more get a single edit.
 */
const MAX_CHANGED_LINES = 1_000;

/** Returns the edits that turn `before` into `after`, in order. */
export function diffLines(before: readonly string[], after: readonly string[]): LineEdit[] {
  const start = countEqualAtStart(before, after);
  const end = countEqualAtEnd(before, after, start);
  const middleBefore = before.slice(start, before.length - end);
  const middleAfter = after.slice(start, after.length - end);
  return diffMiddle(middleBefore, middleAfter).map((edit) => ({
    beforeStart: edit.beforeStart + start,
    beforeEnd: edit.beforeEnd + start,
    afterStart: edit.afterStart + start,
    afterEnd: edit.afterEnd + start,
  }));
}

function countEqualAtStart(before: readonly string[], after: readonly string[]): number {
  const limit = Math.min(before.length, after.length);
  let count = 0;
  while (count < limit && before[count] === after[count]) count++;
  return count;
}

function countEqualAtEnd(
  before: readonly string[],
  after: readonly string[],
  start: number,
): number {
  const limit = Math.min(before.length, after.length) - start;
  let count = 0;
  while (count < limit && before.at(-1 - count) === after.at(-1 - count)) count++;
  return count;
}

function diffMiddle(before: readonly string[], after: readonly string[]): LineEdit[] {
  if (before.length === 0 && after.length === 0) return [];
  const replacement = {
    beforeStart: 0,
    beforeEnd: before.length,
    afterStart: 0,
    afterEnd: after.length,
  };
  if (before.length === 0 || after.length === 0) return [replacement];
  const frontiers = searchForward(before, after);
  return frontiers ? backtrack(frontiers, before.length, after.length) : [replacement];
}

/**
 * Returns, for each number of changes d, the furthest index in `before` on each diagonal k (at k + d + 1), or
 * `undefined` if the texts differ too much.
 */
function searchForward(
  before: readonly string[],
  after: readonly string[],
): Int32Array[] | undefined {
  const frontiers: Int32Array[] = [];
  const limit = Math.min(before.length + after.length, MAX_CHANGED_LINES);
  for (let changes = 0; changes <= limit; changes++) {
    const reach = new Int32Array(2 * changes + 3);
    frontiers.push(reach);
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      let x = getStartX(frontiers, changes, diagonal);
      let y = x - diagonal;
      while (x < before.length && y < after.length && before[x] === after[y]) {
        x++;
        y++;
      }
      reach[diagonal + changes + 1] = x;
      if (x >= before.length && y >= after.length) return frontiers;
    }
  }
  return undefined;
}

/**
 * Returns the index in `before` where a diagonal is entered: from above (an insertion) or from the left (a deletion).
 */
function getStartX(frontiers: readonly Int32Array[], changes: number, diagonal: number): number {
  const fromAbove = getReach(frontiers, changes - 1, diagonal + 1);
  const fromLeft = getReach(frontiers, changes - 1, diagonal - 1) + 1;
  return isInsertion(frontiers, changes, diagonal) ? fromAbove : fromLeft;
}

function isInsertion(frontiers: readonly Int32Array[], changes: number, diagonal: number): boolean {
  if (diagonal === -changes) return true;
  if (diagonal === changes) return false;
  return getReach(frontiers, changes - 1, diagonal - 1) <
    getReach(frontiers, changes - 1, diagonal + 1);
}

function getReach(frontiers: readonly Int32Array[], changes: number, diagonal: number): number {
  return frontiers[changes]?.[diagonal + changes + 1] ?? 0;
}

/** Follows the frontiers from the end to the start and merges adjacent changes. */
function backtrack(frontiers: readonly Int32Array[], endX: number, endY: number): LineEdit[] {
  const edits: LineEdit[] = [];
  let [x, y] = [endX, endY];
  for (let changes = frontiers.length - 1; changes > 0; changes--) {
    const diagonal = x - y;
    const fromAbove = isInsertion(frontiers, changes, diagonal);
    const previous = fromAbove ? diagonal + 1 : diagonal - 1;
    const fromX = getReach(frontiers, changes - 1, previous);
    const fromY = fromX - previous;
    const edit = {
      beforeStart: fromX,
      beforeEnd: fromAbove ? fromX : fromX + 1,
      afterStart: fromY,
      afterEnd: fromAbove ? fromY + 1 : fromY,
    };
    appendOrMerge(edits, edit);
    [x, y] = [fromX, fromY];
  }
  return edits.reverse();
}

/** Appends the next edit to a list in reverse order, or merges it with the last one if they are adjacent. */
function appendOrMerge(edits: LineEdit[], edit: LineEdit): void {
  const next = edits.at(-1);
  if (next && next.beforeStart === edit.beforeEnd && next.afterStart === edit.afterEnd) {
    edits[edits.length - 1] = {
      ...next,
      beforeStart: edit.beforeStart,
      afterStart: edit.afterStart,
    };
    return;
  }
  edits.push(edit);
}
