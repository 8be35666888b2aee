/**
 * Skills: directories with a `SKILL.md` of instructions. The model gets their names and descriptions, and reads a skill
 * when a task calls for it.
 *
 * @module
 */

import { BadRequestError } from "../core/errors/errors.ts";
import { textResult } from "../core/messages/tool_result.ts";
import { truncateMiddle } from "../core/text/output_limit.ts";
import { type AgentTool, defineTool } from "../core/tools/tool.ts";
import { listNames } from "../platform/list_names.ts";
import { join } from "../platform/paths.ts";
import { readUntrustedFile } from "../platform/untrusted_file.ts";
import type { UntrustedRead } from "../platform/untrusted_read.ts";
import { catchAsErrorResult } from "./kit/tool_kit.ts";

/** A skill in a directory of its own. */
export interface Skill {
  /** Name that the model passes to read it: lower-case letters, digits and hyphens, at most 64 characters. */
  readonly name: string;
  /** Description of when to use it; at most 1,024 characters. */
  readonly description: string;
  /** The directory of its `SKILL.md`. */
  readonly directory: string;
}

/** A directory whose `SKILL.md` is not a valid skill. */
export interface SkillProblem {
  /** The directory. */
  readonly directory: string;
  /** Reason why the skill is invalid, as a sentence fragment. */
  readonly problem: string;
}

/** Result of {@linkcode findSkills}. */
export interface FoundSkills {
  /** The skills, sorted by name. Of two with the same name, the one from the earlier directory. */
  readonly skills: readonly Skill[];
  /** The directories that were skipped, with reasons. */
  readonly problems: readonly SkillProblem[];
}

// Limits of the Agent Skills specification.
const NAME_PATTERN = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const MAX_NAME_LENGTH = 64;
const MAX_DESCRIPTION_LENGTH = 1_024;
const MAX_BYTES = 1_000_000;

/** Finds the skills in directories: subdirectories with a `SKILL.md`. Skips directories that do not exist. */
export async function findSkills(directories: readonly string[]): Promise<FoundSkills> {
  const skills = new Map<string, Skill>();
  const problems: SkillProblem[] = [];
  for (const parent of directories) {
    for (const name of listNames(parent)) {
      if (name.startsWith(".")) continue;
      const skill = await readSkill(join(parent, name));
      if (skill === undefined) continue;
      if ("problem" in skill) problems.push(skill);
      else if (!skills.has(skill.name)) skills.set(skill.name, skill);
    }
  }
  const sorted = [...skills.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { skills: sorted, problems };
}

/**
 * Creates `skill`, the tool that returns a skill's instructions. Its description lists all skills. For the model to read
 * a skill's other files, add its directory to the sandbox's `readRoots`.
 */
export function skillTool(skills: readonly Skill[]): AgentTool {
  const list = skills.map(({ name, description }) => `- ${name}: ${description}`).join("\n");
  return defineTool({
    name: "skill",
    label: "Skill",
    description:
      `Reads the instructions of a skill. Use it before a task that matches one of these:\n${list}`,
    parameters: {
      type: "object",
      properties: { name: { type: "string", enum: skills.map(({ name }) => name) } },
      required: ["name"],
      additionalProperties: false,
    },
    readOnly: true,
    execute: catchAsErrorResult(async ({ name }) => {
      const skill = skills.find((candidate) => candidate.name === name);
      if (!skill) throw new BadRequestError(`Unknown skill ${JSON.stringify(name)}`);
      const read = await readSkillFile(skill.directory);
      if (read.type !== "content") {
        const reason = read.type === "missing" ? "no longer exists" : read.reason;
        throw new BadRequestError(`SKILL.md of ${JSON.stringify(name)} ${reason}`);
      }
      const { body } = parseSkill(new TextDecoder().decode(read.bytes));
      const others = listNames(skill.directory).filter((other) => other !== "SKILL.md");
      const files = others.length === 0
        ? ""
        : `\nOther files in the directory: ${others.join(", ")}`;
      const { text } = truncateMiddle(body.trim());
      return textResult(`Skill ${skill.name}, in ${skill.directory}${files}\n\n${text}`);
    }),
  });
}

/** Reads the skill in a directory; `undefined` if it has no `SKILL.md`. */
async function readSkill(directory: string): Promise<Skill | SkillProblem | undefined> {
  const read = await readSkillFile(directory);
  if (read.type === "missing") return undefined;
  if (read.type === "refused") return { directory, problem: `SKILL.md ${read.reason}` };
  const { fields } = parseSkill(new TextDecoder().decode(read.bytes));
  const { name = "", description = "" } = fields;
  if (name === "") {
    return { directory, problem: "SKILL.md has no name between two lines --- at its beginning" };
  }
  if (!NAME_PATTERN.test(name) || name.length > MAX_NAME_LENGTH) {
    return {
      directory,
      problem:
        `the name ${JSON.stringify(name)} must be lower-case letters, digits and single hyphens, ` +
        `at most ${MAX_NAME_LENGTH} characters`,
    };
  }
  if (description === "") return { directory, problem: "the description is missing" };
  return { name, description: description.slice(0, MAX_DESCRIPTION_LENGTH), directory };
}

/** Reads the `SKILL.md` of a directory, which may be that of a project: a link to a file elsewhere is refused. */
function readSkillFile(directory: string): Promise<UntrustedRead> {
  const options = { within: directory, maxBytes: MAX_BYTES };
  return readUntrustedFile(join(directory, "SKILL.md"), options);
}

/** Parses the YAML front matter as far as skills use it: plain, quoted and folded strings. */
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
