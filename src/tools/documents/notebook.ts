/**
 * Jupyter notebooks as text: the cells with their sources, one after the other. An edit of the text is an edit of the
 * cells; their outputs and metadata stay.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { parseJsonOrUndefined } from "../../core/json/parse_json.ts";
import { truncateEnd } from "../../core/text/output_limit.ts";
import { quotePath } from "../files/file_error.ts";
import { detectLineEnding, type LineEnding } from "../text/line_endings.ts";

/** A notebook. */
export interface Notebook {
  /** The JSON of the file. */
  readonly document: JsonObject;
  /** The cells. */
  readonly cells: readonly JsonObject[];
  /** Indentation of the file. */
  readonly indentation: string;
  /** Whether the file ends with a line break. */
  readonly endsWithNewline: boolean;
  /** The line breaks of the file. */
  readonly lineEnding: LineEnding;
}

/** Maximum length of an output in a text. */
const MAX_OUTPUT_CHARACTERS = 2_000;

/** Parses a notebook. @throws {BadRequestError} When it is not one of format 4. */
export function parseNotebook(text: string, path: string): Notebook {
  const document = parseJsonOrUndefined(text);
  const cells = isJsonObject(document) ? document.cells : undefined;
  if (!isJsonObject(document) || !Array.isArray(cells) || !cells.every(isCell)) {
    throw new BadRequestError(
      `${quotePath(path)} is not a valid notebook of format 4: repair it with a command`,
    );
  }
  const indentation = /^\{\r?\n([ \t]+)/.exec(text)?.[1] ?? "";
  const endsWithNewline = text.endsWith("\n");
  return { document, cells, indentation, endsWithNewline, lineEnding: detectLineEnding(text) };
}

/** A notebook without cells. */
const EMPTY_NOTEBOOK: Notebook = {
  document: { cells: [], metadata: {}, nbformat: 4, nbformat_minor: 5 },
  cells: [],
  indentation: " ",
  endsWithNewline: true,
  lineEnding: "\n",
};

/**
 * Returns the file for a text that replaces a notebook. Cells as `read_file` shows them become those of the notebook, or of
 * a new one; another text is kept.
 */
export function toNotebookFile(text: string, existing: string | undefined): string {
  const normalized = text.replaceAll("\r\n", "\n");
  const [first = ""] = normalized.split("\n", 1);
  if (!MARKER.test(first)) return text;
  return applyCells(tryParseNotebook(existing) ?? EMPTY_NOTEBOOK, normalized);
}

function tryParseNotebook(text: string | undefined): Notebook | undefined {
  try {
    return text === undefined ? undefined : parseNotebook(text, "");
  } catch {
    return undefined;
  }
}

function isCell(value: unknown): value is JsonObject {
  return isJsonObject(value) && typeof value.cell_type === "string";
}

/** Formats the sources of the cells, each after a line with its number, its type and its id. */
export function formatCells({ cells }: Notebook): string {
  return cells.map((cell, index) => `${formatMarker(cell, index)}\n${getSource(cell)}\n`).join("");
}

function formatMarker(cell: JsonObject, index: number): string {
  const id = typeof cell.id === "string" ? ` id=${cell.id}` : "";
  return `# %% [${cell.cell_type}] cell=${index + 1}${id}`;
}

const MARKER = /^# %% \[(code|markdown|raw)\](?: cell=(\d+))?(?: id=\S+)?[ \t]*$/;

function getSource({ source }: JsonObject): string {
  return toText(source);
}

/** Joins a text of a notebook, which is a string or a list of lines. */
function toText(value: unknown): string {
  return Array.isArray(value) ? value.join("") : typeof value === "string" ? value : "";
}

/** Formats the outputs of the cells, shortened; empty without outputs. */
export function formatOutputs({ cells }: Notebook): string {
  return cells.flatMap((cell, index) => {
    const outputs = Array.isArray(cell.outputs) ? cell.outputs.filter(isJsonObject) : [];
    const text = outputs.map(formatOutput).join("\n").trim();
    if (text === "") return [];
    const shown = truncateEnd(text, MAX_OUTPUT_CHARACTERS);
    return [`[Output of cell ${index + 1}]\n${shown}${shown.length < text.length ? " […]" : ""}`];
  }).join("\n");
}

function formatOutput(output: JsonObject): string {
  if (output.output_type === "error") return `${output.ename}: ${output.evalue}`;
  if (output.output_type === "stream") return toText(output.text);
  const formats = isJsonObject(output.data) ? output.data : {};
  const text = toText(formats["text/plain"]);
  const others = Object.keys(formats).filter((type) => type !== "text/plain");
  return [text, ...others.map((type) => `[${type}]`)].filter((part) => part !== "").join(" ");
}

/**
 * Returns the file of a notebook whose text was edited. A cell keeps its number, and with it its outputs and metadata; a
 * marker without a number, `# %% [code]`, adds a cell, and a removed marker removes one.
 *
 * @throws {BadRequestError} When the edited text is not a list of cells, or a cell of the notebook contains a marker.
 */
export function applyCells(notebook: Notebook, text: string): string {
  const { document, indentation, endsWithNewline, lineEnding } = notebook;
  if (
    notebook.cells.some((cell) => getSource(cell).split("\n").some((line) => MARKER.test(line)))
  ) {
    throw new BadRequestError(
      "A cell of the notebook contains a line of the form `# %% [code]`: change it with a command",
    );
  }
  const cells: JsonObject[] = [];
  const used = new Set<number>();
  let lines: string[] | undefined;
  const sources: string[][] = [];
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const marker = MARKER.exec(line);
    if (marker) {
      const number = Number(marker[2] ?? 0);
      const original = used.has(number) ? undefined : notebook.cells[number - 1];
      used.add(number);
      cells.push(withType(original, marker[1] ?? "code", document));
      sources.push(lines = []);
    } else if (lines) lines.push(line);
    else throw new BadRequestError("The first line of a notebook must be a marker of a cell");
  }
  const edited = cells.map((cell, index) => withSource(cell, (sources[index] ?? []).join("\n")));
  const json = JSON.stringify({ ...document, cells: edited }, null, indentation);
  const file = endsWithNewline ? `${json}\n` : json;
  return lineEnding === "\n" ? file : file.replaceAll("\n", lineEnding);
}

/** Returns a cell with a type, or a new cell. */
function withType(
  original: JsonObject | undefined,
  type: string,
  { nbformat_minor }: JsonObject,
): JsonObject {
  if (original?.cell_type === type) return original;
  const { outputs: _outputs, execution_count: _count, ...rest } = original ?? {};
  // Cells have ids since format 4.5.
  const needsId = typeof nbformat_minor === "number" && nbformat_minor >= 5;
  return {
    ...(needsId && { id: crypto.randomUUID().slice(0, 8) }),
    metadata: {},
    ...rest,
    cell_type: type,
    ...(type === "code" && { execution_count: null, outputs: [] }),
  };
}

/** Returns a cell with a source, in the form that it had. */
function withSource(cell: JsonObject, source: string): JsonObject {
  if (typeof cell.source === "string") return { ...cell, source };
  if (cell.source !== undefined && toText(cell.source) === source) return cell;
  const lines = source === "" ? [] : source.split(/(?<=\n)/);
  return { ...cell, source: lines };
}
