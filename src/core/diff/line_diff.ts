/**
 * Which lines of one text become which lines of another: the shortest edit script, by Myers' O(ND) algorithm
 * ("An O(ND) Difference Algorithm and Its Variations", 1986).
 *
 * @module
 */

/** Lines `[beforeStart, beforeEnd)` become lines `[afterStart, afterEnd)`; everything between edits is equal. */
export interface LineEdit {
  /** First line that goes, from 0. */
  readonly beforeStart: number;
  /** Line after the last one that goes. */
  readonly beforeEnd: number;
  /** First line that comes, from 0. */
  readonly afterStart: number;
  /** Line after the last one that comes. */
  readonly afterEnd: number;
}

/** Past this many changed lines a diff is no longer read by anybody: the differing middle is one edit. */
const MAX_CHANGED_LINES = 1_000;

/** The edits that turn one list of lines into the other, in order. */
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
  const most = Math.min(before.length, after.length);
  let count = 0;
  while (count < most && before[count] === after[count]) count++;
  return count;
}

function countEqualAtEnd(
  before: readonly string[],
  after: readonly string[],
  start: number,
): number {
  const most = Math.min(before.length, after.length) - start;
  let count = 0;
  while (count < most && before.at(-1 - count) === after.at(-1 - count)) count++;
  return count;
}

function diffMiddle(before: readonly string[], after: readonly string[]): LineEdit[] {
  if (before.length === 0 && after.length === 0) return [];
  const whole = {
    beforeStart: 0,
    beforeEnd: before.length,
    afterStart: 0,
    afterEnd: after.length,
  };
  if (before.length === 0 || after.length === 0) return [whole];
  const frontiers = searchForward(before, after);
  return frontiers ? backtrack(frontiers, before.length, after.length) : [whole];
}

/**
 * For each number of changes d, how far into `before` each diagonal k reaches (at index k + d + 1).
 * `undefined` when the texts are too different.
 */
function searchForward(
  before: readonly string[],
  after: readonly string[],
): Int32Array[] | undefined {
  const frontiers: Int32Array[] = [];
  const most = Math.min(before.length + after.length, MAX_CHANGED_LINES);
  for (let changes = 0; changes <= most; changes++) {
    const reached = new Int32Array(2 * changes + 3);
    frontiers.push(reached);
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      let x = getStartX(frontiers, changes, diagonal);
      let y = x - diagonal;
      while (x < before.length && y < after.length && before[x] === after[y]) {
        x++;
        y++;
      }
      reached[diagonal + changes + 1] = x;
      if (x >= before.length && y >= after.length) return frontiers;
    }
  }
  return undefined;
}

/** Where a diagonal is entered with one more change: from above (a line comes) or from the left (one goes). */
function getStartX(frontiers: readonly Int32Array[], changes: number, diagonal: number): number {
  if (changes === 0) return 0;
  const down = getReach(frontiers, changes - 1, diagonal + 1);
  const right = getReach(frontiers, changes - 1, diagonal - 1) + 1;
  return isInsertion(frontiers, changes, diagonal) ? down : right;
}

function isInsertion(frontiers: readonly Int32Array[], changes: number, diagonal: number) {
  if (diagonal === -changes) return true;
  if (diagonal === changes) return false;
  return getReach(frontiers, changes - 1, diagonal - 1) <
    getReach(frontiers, changes - 1, diagonal + 1);
}

function getReach(frontiers: readonly Int32Array[], changes: number, diagonal: number): number {
  return frontiers[changes]?.[diagonal + changes + 1] ?? 0;
}

/** Follows the frontiers from the end to the beginning and joins neighbouring changes. */
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
    prependEdit(edits, edit);
    [x, y] = [fromX, fromY];
  }
  return edits.reverse();
}

/** Adds an edit that lies before all others of a list which runs backwards. */
function prependEdit(edits: LineEdit[], edit: LineEdit): void {
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
