/**
 * Skills: folders with a `SKILL.md` that teach an agent how something is done. The model is told their names and
 * descriptions, and reads one when it needs it.
 *
 * @module
 */

import { join } from "./files/paths.ts";
import { BadRequestError } from "../core/errors.ts";
import { type AgentTool, defineTool, textResult } from "../core/tool.ts";
import { getSystemErrorCode } from "./files/file_error.ts";
import { truncateMiddle } from "./text/output_limit.ts";
import { catchAsErrorResult } from "./kit/tool_kit.ts";

/** A skill that was found. */
export interface Skill {
  /** Its name; by it the model asks for it. */
  readonly name: string;
  /** When it is useful, in a sentence or two. */
  readonly description: string;
  /** Its folder. */
  readonly directory: string;
}

/** A folder that looks like a skill and is not one. */
export interface SkillProblem {
  /** The folder. */
  readonly directory: string;
  /** What is wrong with it. */
  readonly problem: string;
}

/** What {@linkcode findSkills} found. */
export interface FoundSkills {
  /** The skills, sorted by name. Of two with one name the one from the earlier folder. */
  readonly skills: readonly Skill[];
  /** What was left out, and why. */
  readonly problems: readonly SkillProblem[];
}

/** What Agent Skills allow. */
const NAME_PATTERN = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const MAX_NAME_LENGTH = 64;
const MAX_DESCRIPTION_LENGTH = 1_024;
const MAX_BYTES = 1_000_000;

/** Finds the skills in some folders, each a folder with a `SKILL.md`; folders that are not there are fine. */
export async function findSkills(folders: readonly string[]): Promise<FoundSkills> {
  const skills = new Map<string, Skill>();
  const problems: SkillProblem[] = [];
  for (const parent of folders) {
    for (const name of await listVisibleNames(parent)) {
      const folder = join(parent, name);
      const read = await readSkill(folder);
      if (read === undefined) continue;
      if ("problem" in read) problems.push(read);
      else if (!skills.has(read.name)) skills.set(read.name, read);
    }
  }
  const sorted = [...skills.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { skills: sorted, problems };
}

/**
 * Makes `skill`, the tool by which a model reads one. Its description lists them all. Where a skill's other files
 * shall be read, its folder must be among the sandbox's `readRoots`.
 */
export function skillTool(skills: readonly Skill[]): AgentTool {
  const list = skills.map(({ name, description }) => `- ${name}: ${description}`).join("\n");
  return defineTool({
    name: "skill",
    label: "Skill",
    description:
      `Reads the instructions of a skill. Use it before a task that one of them fits:\n${list}`,
    parameters: {
      type: "object",
      properties: { name: { type: "string", enum: skills.map(({ name }) => name) } },
      required: ["name"],
      additionalProperties: false,
    },
    readOnly: true,
    execute: catchAsErrorResult(async ({ name }) => {
      const skill = skills.find((candidate) => candidate.name === name);
      if (!skill) throw new BadRequestError(`There is no skill ${JSON.stringify(name)}`);
      const { body } = parseSkill(await Deno.readTextFile(join(skill.directory, "SKILL.md")));
      const others = (await listNames(skill.directory)).filter((other) => other !== "SKILL.md");
      const files = others.length === 0 ? "" : `\nOther files there: ${others.join(", ")}`;
      const { text } = truncateMiddle(body.trim());
      return textResult(`Skill ${skill.name}, in ${skill.directory}${files}\n\n${text}`);
    }),
  });
}

async function readSkill(folder: string): Promise<Skill | SkillProblem | undefined> {
  const file = join(folder, "SKILL.md");
  try {
    if ((await Deno.stat(file)).size > MAX_BYTES) {
      return { directory: folder, problem: "SKILL.md is too large" };
    }
    const { fields } = parseSkill(await Deno.readTextFile(file));
    const { name = "", description = "" } = fields;
    if (!NAME_PATTERN.test(name) || name.length > MAX_NAME_LENGTH) {
      return {
        directory: folder,
        problem: `the name ${JSON.stringify(name)} is not of small letters, digits and hyphens`,
      };
    }
    if (description === "") return { directory: folder, problem: "the description is missing" };
    return { name, description: description.slice(0, MAX_DESCRIPTION_LENGTH), directory: folder };
  } catch (error) {
    const isMissing = getSystemErrorCode(error) === "ENOENT" ||
      getSystemErrorCode(error) === "ENOTDIR";
    return isMissing ? undefined : { directory: folder, problem: "SKILL.md cannot be read" };
  }
}

/** The fields between the two `---` lines, as far as skills use them: texts on one line, quoted, or folded. */
function parseSkill(text: string): { fields: Partial<Record<string, string>>; body: string } {
  const [, head = "", body = text] =
    /^\ufeff?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n([\s\S]*))?$/.exec(text) ?? [];
  const fields: Partial<Record<string, string>> = {};
  let current = "";
  for (const line of head.split(/\r?\n/)) {
    const [, key, value = ""] = /^([\w-]+):\s*(.*)$/.exec(line) ?? [];
    if (key !== undefined) {
      current = key;
      fields[key] = /^[|>][-+]?$/.test(value.trim()) ? "" : unquote(value.trim());
    } else if (/^\s+\S/.test(line) && current !== "") {
      fields[current] = `${fields[current] ?? ""} ${line.trim()}`.trim();
    }
  }
  return { fields, body };
}

function unquote(value: string): string {
  if (/^"(?:[^"\\]|\\.)*"$/.test(value)) {
    try {
      return String(JSON.parse(value));
    } catch {
      return value.slice(1, -1);
    }
  }
  return /^'.*'$/.test(value) ? value.slice(1, -1).replaceAll("''", "'") : value;
}

async function listVisibleNames(folder: string): Promise<string[]> {
  return (await listNames(folder)).filter((name) => !name.startsWith("."));
}

async function listNames(folder: string): Promise<string[]> {
  try {
    return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).sort();
  } catch {
    return [];
  }
}
