/**
 * Patterns in which `*` matches any characters.
 *
 * @module
 */

/** A compiled pattern. */
export interface Wildcard {
  /** Whether a text matches. */
  test(text: string): boolean;
}

/**
 * Compiles a pattern. Each part between two `*` is found where it first occurs, so that the time is linear in the text: a
 * regular expression would take minutes for `*a*a*a*a*b`.
 */
export function compileWildcard(pattern: string, options: { anyCase?: boolean } = {}): Wildcard {
  const normalize = (text: string) => options.anyCase ? text.toLowerCase() : text;
  const [first = "", ...others] = normalize(pattern).split(/\*+/);
  const last = others.pop();
  return {
    test: (source) => {
      const text = normalize(source);
      if (last === undefined) return text === first;
      if (!text.startsWith(first)) return false;
      let end = first.length;
      for (const part of others) {
        const index = text.indexOf(part, end);
        if (index === -1) return false;
        end = index + part.length;
      }
      return text.endsWith(last) && text.length - last.length >= end;
    },
  };
}
