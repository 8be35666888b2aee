import { assert, assertEquals } from "@std/assert";
import { parse as parseYaml } from "yaml";
import { parseCommandLine } from "../cli/command_line/parser.ts";
import { PROGRAM } from "../cli/commands/table.ts";
import { parseConfig } from "../cli/config/parse_config.ts";
import { readExamples } from "../scripts/examples.ts";
import { listCodeBlocks, listCommands } from "./documentation/code_blocks.ts";
import { readPages } from "./documentation/project_paths.ts";
import { root } from "./project.ts";

const pages = await readPages();
const blocks = pages.flatMap(listCodeBlocks);

function findBlocks(language: string) {
  const found = blocks.filter((block) => block.language === language);
  assert(found.length > 0, language);
  return found;
}

Deno.test("documentation: blocks have a known language, and every ts block is checked and run", async () => {
  const languages = [
    "",
    "json",
    "markdown",
    "sh",
    "sql",
    "text",
    "toml",
    "ts",
    "ts ignore",
    "yaml",
  ];
  assertEquals(
    blocks.filter(({ language }) => !languages.includes(language)).map(({ place }) => place),
    [],
  );
  const examples = await readExamples();
  const run = new Set(examples.filter(({ runs }) => runs).map(({ place }) => place));
  const places = findBlocks("ts").map(({ place }) => place);
  assertEquals(places.filter((place) => !run.has(place)), []);
});

Deno.test("documentation: commands of swink in shell blocks are valid", async () => {
  const invalid: string[] = [];
  for (const { place, text } of findBlocks("sh")) {
    for (const words of listCommands(text, "swink")) {
      await parseCommandLine(PROGRAM, words).catch((error) => {
        invalid.push(`${place}: swink ${words.join(" ")}: ${error.message}`);
      });
    }
  }
  assertEquals(invalid, []);
});

Deno.test("documentation: tasks in shell blocks and inline code exist", async () => {
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));
  const missing = pages.flatMap(({ path, text }) =>
    Array.from(text.matchAll(/\bdeno(?:@2)? task ([\w:]+)/g))
      .filter(([, task = ""]) => !Object.hasOwn(tasks, task))
      .map(([command]) => `${path}: ${command}`)
  );
  assertEquals(missing, []);
});

Deno.test("documentation: blocks in JSON and YAML parse, and those in TOML are valid configurations", () => {
  for (const { place, text } of findBlocks("json")) {
    for (const value of isLines(text) ? text.trim().split("\n") : [text]) {
      assert(JSON.parse(value) !== undefined, place);
    }
  }
  for (const { place, text } of findBlocks("yaml")) assert(parseYaml(text) !== null, place);
  for (const { place, text } of findBlocks("toml")) {
    const { problems } = parseConfig(text, { type: "user", file: place });
    assertEquals(problems, [], place);
  }
});

/** Whether a block has one value in each line. */
function isLines(text: string): boolean {
  return text.trim().split("\n").every((line) => /^\{.*\}$/.test(line));
}

Deno.test("listCommands() returns the words of commands, without comments, pipes and redirections", () => {
  const script = `git diff | swink -p "Review this" # or
printf 'x' |
  swink run --input-format stream-json > a.json && swink
echo swink`;
  assertEquals(listCommands(script, "swink"), [
    ["-p", "Review this"],
    ["run", "--input-format", "stream-json"],
    [],
  ]);
});
