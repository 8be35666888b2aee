/**
 * Matches a regular expression in linear time, by following all of its alternatives at once.
 *
 * RE2 works like this too. Lookarounds, which it does not support, are possible because nothing is captured: the
 * positions at which the body of a lookaround matches are found by a scan of their own before they are needed.
 *
 * @module
 */

import type { AnnotatedText, Automaton, CharacterState, State } from "./automaton.ts";

/** Whether an automaton matches anywhere in a text, given as its characters. */
export function matchesAnywhere(automaton: Automaton, characters: readonly string[]): boolean {
  return findMatches(automaton, characters).includes(1);
}

/**
 * Returns 1 for every position at which a match ends, in the direction of the automaton; a match may start anywhere
 * before it.
 */
function findMatches(automaton: Automaton, characters: readonly string[]): Uint8Array {
  const { start, stateCount, direction, lookarounds } = automaton;
  const text: AnnotatedText = {
    characters,
    lookarounds: lookarounds.map((body) => findMatches(body, characters)),
  };
  const matches = new Uint8Array(characters.length + 1);
  const visited = new Int32Array(stateCount).fill(-1);
  let pending: State[] = [];
  for (let step = 0; step <= characters.length; step++) {
    const position = direction === "forward" ? step : characters.length - step;
    const reading: CharacterState[] = [];
    pending.push(start);
    for (let state = pending.pop(); state; state = pending.pop()) {
      if (visited[state.id] === step) continue;
      visited[state.id] = step;
      if (state.type === "accept") matches[position] = 1;
      else if (state.type === "branch") pending.push(...state.next);
      else if (state.type === "character") reading.push(state);
      else if (state.test(position, text)) pending.push(state.next);
    }
    const character = characters[direction === "forward" ? position : position - 1];
    if (character === undefined) break;
    pending = reading.filter(({ test }) => test(character)).map(({ next }) => next);
  }
  return matches;
}
