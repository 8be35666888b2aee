/**
 * What somebody may have meant by a name that does not exist.
 *
 * @module
 */

/** The candidate that is a slip or two away from a word, if there is one. */
export function findSuggestion(word: string, candidates: readonly string[]): string | undefined {
  // A single letter is a slip away from every other.
  if (word.replace(/^-+/, "").length < 2) return undefined;
  const most = Math.max(1, Math.floor(word.length / 3));
  let nearest: string | undefined;
  let least = most + 1;
  for (const candidate of candidates) {
    const slips = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (slips >= least) continue;
    nearest = candidate;
    least = slips;
  }
  return nearest;
}

/** Characters to add, leave out, replace or swap with their neighbour (the optimal string alignment distance). */
function editDistance(one: string, other: string): number {
  let [beforeLast, last]: [number[], number[]] = [[], range(other.length + 1)];
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const isEqual = one[row - 1] === other[column - 1];
      const isSwap = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current.push(Math.min(
        getCell(last, column) + 1,
        getCell(current, column - 1) + 1,
        getCell(last, column - 1) + (isEqual ? 0 : 1),
        isSwap ? getCell(beforeLast, column - 2) + 1 : Infinity,
      ));
    }
    [beforeLast, last] = [last, current];
  }
  return getCell(last, other.length);
}

function getCell(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}

function range(length: number): number[] {
  return Array.from({ length }, (_, index) => index);
}
