/**
 * Fills the column "Test" of `docs/requirements.md` from the titles of the tests.
 *
 * A title names its requirements in brackets at its end: `"abort() keeps queued steering [B41]"`. The sentences of the
 * page are written by hand.
 *
 * @module
 */

/** A title that names requirements. */
export interface RequirementTest {
  /** The file, relative to the root of the project. */
  file: string;
  /** The title without its numbers; expressions of a template are shown as `…`. */
  title: string;
  numbers: string[];
}

/** A row of the page. */
export interface Requirement {
  numbers: string[];
  sentence: string;
}

/** The requirements of the page, and the numbers under "Not covered". */
export interface RequirementPage {
  requirements: Requirement[];
  notCovered: string[];
}

const NUMBER = String.raw`(?:AC-\d+|[AB]\d+[a-z]?|[1-8]\.\d+)`;
const BRACKET = String.raw` \[(${NUMBER}(?:, ${NUMBER})*)\]`;
const TITLES = [
  new RegExp(String.raw`"((?:[^"\\\n]|\\.)*)${BRACKET}"`, "g"),
  new RegExp(`\`((?:[^\`\\\\\\n]|\\\\.)*)${BRACKET}\``, "g"),
];
const ROW = new RegExp(String.raw`^\| (${NUMBER}(?:(?:, |–)${NUMBER})*) \| (.+?) \|`);

/** Finds the titles in the text of a test file. */
export function findRequirementTests(file: string, text: string): RequirementTest[] {
  const matches = TITLES.flatMap((pattern) => [...text.matchAll(pattern)]);
  return matches.toSorted((a, b) => a.index - b.index).map(([, title = "", numbers = ""]) => ({
    file,
    title: title.replace(/\$\{[^}]*\}/g, "…").replace(/\\(["`])/g, "$1"),
    numbers: numbers.split(", "),
  }));
}

/** Parses the rows of the page. */
export function parseRequirements(page: string): RequirementPage {
  const [covered = "", notCovered = ""] = page.split(/^## Not covered$/m);
  return {
    requirements: parseRows(covered),
    notCovered: parseRows(notCovered).flatMap(({ numbers }) => numbers),
  };
}

/** Writes the column "Test" of every row. */
export function fillTestColumn(page: string, tests: readonly RequirementTest[]): string {
  const start = page.search(/^## Not covered$/m);
  const end = start < 0 ? page.length : start;
  const rows = page.slice(0, end).split("\n").map((line) => {
    const match = ROW.exec(line);
    if (!match) return line;
    const [cells, numbers = ""] = match;
    return `${cells} ${formatTests(tests, numbers.split(", "))} |`;
  });
  return rows.join("\n") + page.slice(end);
}

/** Reads the titles of all tests of a checkout. */
export async function readRequirementTests(root: URL): Promise<RequirementTest[]> {
  const tests: RequirementTest[] = [];
  for (const start of ["adapters/", "cli/", "src/", "tests/"]) {
    for await (const file of listTestFiles(root, start)) {
      tests.push(...findRequirementTests(file, await Deno.readTextFile(new URL(file, root))));
    }
  }
  return tests.toSorted((a, b) => a.file < b.file ? -1 : a.file > b.file ? 1 : 0);
}

function parseRows(text: string): Requirement[] {
  return text.split("\n").flatMap((line) => {
    const [, numbers, sentence] = ROW.exec(line) ?? [];
    if (numbers === undefined || sentence === undefined) return [];
    return [{ numbers: numbers.split(", ").flatMap(expandRange), sentence }];
  });
}

/** Expands `A149–A151` to its numbers. */
function expandRange(range: string): string[] {
  const [first = "", last = first] = range.split("–");
  const [, prefix = "", from] = /^(AC-|[AB]|\d\.)(\d+)/.exec(first) ?? [];
  const to = /(\d+)[a-z]?$/.exec(last)?.[1];
  if (first === last || from === undefined || to === undefined) return [first];
  const count = Number(to) - Number(from) + 1;
  return Array.from({ length: count }, (_, index) => `${prefix}${Number(from) + index}`);
}

function formatTests(tests: readonly RequirementTest[], numbers: readonly string[]): string {
  const titles = new Map<string, string[]>();
  for (const test of tests) {
    if (!test.numbers.some((number) => numbers.includes(number))) continue;
    titles.set(test.file, [...titles.get(test.file) ?? [], test.title]);
  }
  return [...titles].map(([file, [title = "", ...others]]) => {
    const link = `[${file}](../${file})`;
    return others.length > 0 ? link : `${link}: ${escapeCell(title)}`;
  }).join("<br>");
}

function escapeCell(text: string): string {
  return text.replace(/[|<*]/g, "\\$&");
}

async function* listTestFiles(root: URL, directory: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(new URL(directory, root))) {
    if (isDirectory) yield* listTestFiles(root, `${directory}${name}/`);
    else if (/_(test|proof)\.ts$/.test(name)) yield directory + name;
  }
}

if (import.meta.main) {
  const root = new URL("../", import.meta.url);
  const path = new URL("docs/requirements.md", root);
  const page = await Deno.readTextFile(path);
  await Deno.writeTextFile(path, fillTestColumn(page, await readRequirementTests(root)));
}
