/**
 * Patterns of the names of tools.
 *
 * @module
 */

/**
 * Creates a function that returns whether any of the patterns matches a name. `*` matches any characters. A match takes
 * linear time, because each part is searched after the previous one.
 */
export function createNameMatcher(patterns: readonly string[]): (name: string) => boolean {
  const matchers = patterns.map(createPattern);
  return (name) => matchers.some((matches) => matches(name));
}

function createPattern(pattern: string): (name: string) => boolean {
  const [first = "", ...parts] = pattern.split("*");
  const last = parts.pop();
  if (last === undefined) return (name) => name === pattern;
  return (name) => {
    if (!name.startsWith(first)) return false;
    let offset = first.length;
    for (const part of parts) {
      const index = name.indexOf(part, offset);
      if (index < 0) return false;
      offset = index + part.length;
    }
    return name.length >= offset + last.length && name.endsWith(last);
  };
}
