/**
 * Finds the patterns in the arguments of a program that the program itself compares with the names of files.
 *
 * @module
 */

/** Options whose value, in the next word or the same one, is a glob. */
const GLOB_OPTIONS: ReadonlyMap<string, RegExp> = new Map([
  ["find", /^-i?(?:name|path|wholename)$/],
  ["grep", /^--inc[a-z]*(?:=|$)/],
  ["egrep", /^--inc[a-z]*(?:=|$)/],
  ["fgrep", /^--inc[a-z]*(?:=|$)/],
  ["rg", /^(?:-\w*g|--i?glob(?:=|$))/],
  ["rsync", /^--inc[a-z]*(?:=|$)/],
  ["zip", /^-i/],
  ["tree", /^-\w*P$/],
]);

/** Programs whose operands are globs. */
const GLOB_OPERANDS = /^(?:git|curl|7z|fd|fdfind)$/;

/** Options whose value is a regular expression. */
const EXPRESSION_OPTIONS: ReadonlyMap<string, RegExp> = new Map([
  ["find", /^-i?regex$/],
  ["ag", /^(?:-\w*G|--file-search-regex)/],
]);

/** Programs of whose operands one is a regular expression. */
const EXPRESSION_OPERANDS = /^(?:fd|fdfind)$/;

/** Options after which such an operand is a glob. */
const GLOB_FLAGS = /^(?:-\w*g|--glob)$/;

/** An argument of a program. */
export interface Argument {
  /** The argument, or a value in it. */
  readonly text: string;
  /** The word that contains it. */
  readonly word: string;
  /** The word before that. */
  readonly previous: string;
}

/** Returns the globs with which a program compares the names of files, or which match at least the same names. */
export function listProgramGlobs(program: string, argument: Argument): readonly string[] {
  const { text } = argument;
  const isGlob = GLOB_OPERANDS.test(program) || isOptionValue(GLOB_OPTIONS.get(program), argument);
  const globs = isGlob && /[*?[{\\]/.test(text) ? [text] : [];
  if (isOptionValue(EXPRESSION_OPTIONS.get(program), argument)) {
    // `find` compares the complete path.
    const isComplete = program === "find";
    return splitAlternatives(text).map((part) => toGlob(isComplete ? `^${part}$` : part));
  }
  const isExpression = EXPRESSION_OPERANDS.test(program) && /[\\^$*+]/.test(text) &&
    !GLOB_FLAGS.test(argument.previous);
  return isExpression ? [...globs, ...listExpressionGlobs(text)] : globs;
}

function isOptionValue(option: RegExp | undefined, { word, previous }: Argument): boolean {
  return option !== undefined && (option.test(word) || option.test(previous));
}

/** Returns globs that match at least the names that contain a match of a regular expression. */
export function listExpressionGlobs(expression: string): readonly string[] {
  return splitAlternatives(expression).map(toGlob);
}

/** Maximum depth of groups in a regular expression. */
const MAX_GROUPS = 10;
const GROUP = /\([^()]*\)(?:[*+?]|\{[\d,]*\})?/g;

/** Maximum length of an expression; of a longer one the word itself may be any path. */
const MAX_EXPRESSION = 4_096;

/** Returns the alternatives of a regular expression, with its groups replaced by wildcards. */
function splitAlternatives(expression: string): readonly string[] {
  if (expression.length > MAX_EXPRESSION) return [];
  // With a backslash in the syntax of Emacs, the default of `find`.
  let text = expression.replace(/\\([(|)])/g, "$1");
  for (let depth = 0; depth < MAX_GROUPS; depth++) text = text.replace(GROUP, ".*");
  return text.split("|");
}

const ATOMS = /(\\.|\[[^\]]*\]|.)([*+?]|\{[\d,]*\})?/gs;

function toGlob(alternative: string): string {
  const body = alternative.replace(/^\^+|\$+$/g, "").replace(
    ATOMS,
    (_, atom: string, quantifier?: string) => {
      if (quantifier) return "*";
      return atom === "." || /^\\\w/.test(atom) ? "?" : atom.replace(/^\\(?![*?[{])/, "");
    },
  );
  const start = alternative.startsWith("^") ? "" : "*";
  const end = alternative.endsWith("$") ? "" : "*";
  return `${start}${body}${end}`.replace(/\*[*?]*\*/g, "*");
}
