/**
 * The `read_file` tool.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import type { ContentBlock } from "../../core/messages/content.ts";
import { type AgentToolResult, textResult } from "../../core/messages/tool_result.ts";
import { formatNumber } from "../../core/text/output_limit.ts";
import { type AgentTool, defineTool } from "../../core/tools/tool.ts";
import { type OpenedFile, readAllBytes } from "../../platform/opened_file.ts";
import { isNotebookPath } from "../documents/is_notebook_path.ts";
import { quotePath } from "../files/file_error.ts";
import { catchAsErrorResult, type ToolKit } from "../kit/tool_kit.ts";
import { openFile } from "../sandbox/file_reading.ts";
import { hashContent } from "../text/content_hash.ts";
import { detectFileKind, hasUtf16Bom, SNIFF_BYTES } from "../text/file_kind.ts";
import { type LineRange, LineWindow } from "../text/line_window.ts";

/** Maximum number of lines in a result. */
const MAX_LINES = 2_000;

/** Files up to this size are read to the end, to count their lines and compute their hash. */
const MAX_COUNTED_BYTES = 10_000_000;

/** Creates `read_file`. */
export function readFileTool(kit: ToolKit): AgentTool {
  return defineTool({
    name: "read_file",
    label: "Read file",
    description:
      "Reads a text file; each line starts with its number and a tab. Returns up to 2,000 lines: use offset and " +
      "limit for more. Images (PNG, JPEG, GIF, WebP) are returned as images, PDF documents as text, notebooks as cells.",
    parameters: {
      type: "object",
      properties: {
        path: { type: "string", description: "Path, relative to the working directory" },
        offset: { type: "integer", minimum: 1, description: "First line. Default: 1" },
        limit: {
          type: "integer",
          minimum: 1,
          description: "Maximum number of lines. Default: 2000",
        },
      },
      required: ["path"],
      additionalProperties: false,
    },
    readOnly: true,
    execute: catchAsErrorResult(async ({ path, offset = 1, limit = MAX_LINES }, { signal }) => {
      const { files } = kit.sandbox;
      if (await files.getKind(path) === undefined) {
        const { suggestNames } = await import("../sandbox/name_suggestion.ts");
        throw new BadRequestError(
          `${quotePath(path)} does not exist${await suggestNames(files, path)}`,
        );
      }
      await using file = await openFile(files, path);
      const start = await readFirstBytes(file);
      const kind = detectFileKind(start);
      const range = { offset, limit: Math.min(limit, MAX_LINES) };
      switch (kind.type) {
        case "image":
          return await createImageResult(file, kind.mediaType, { path, signal });
        case "pdf": {
          const { extractPdfText } = await import("../documents/pdf_text.ts");
          const text = await extractPdfText(await readContent(file, signal), { signal });
          return createTextResult(text, file, range);
        }
        case "binary":
          throw new BadRequestError(
            `${quotePath(path)} is ${kind.name} of ${
              formatNumber(file.size)
            } bytes and cannot be read as text`,
          );
        case "text":
          if (isNotebookPath(path)) return await readNotebook(kit, file, { path, range, signal });
          return await readLines(kit, file, range, {
            signal,
            utf16: hasUtf16Bom(start) ? (start[0] === 0xff ? "utf-16le" : "utf-16be") : undefined,
          });
      }
    }),
  });
}

interface NotebookOptions {
  readonly path: string;
  readonly range: LineRange;
  readonly signal: AbortSignal;
}

async function readNotebook(
  kit: ToolKit,
  file: OpenedFile,
  { path, range, signal }: NotebookOptions,
): Promise<AgentToolResult> {
  const bytes = await readContent(file, signal);
  const { formatNotebook } = await import("../documents/notebook_text.ts");
  const { cells, outputs } = formatNotebook(bytes, path);
  await kit.seenFiles.record(file.path, bytes);
  const result = createTextResult(cells, file, range);
  if (outputs === "") return result;
  return { ...result, content: [...result.content, { type: "text", text: `\n${outputs}` }] };
}

/** Returns the lines of a text that was made from a file. */
function createTextResult(text: string, file: OpenedFile, range: LineRange): AgentToolResult {
  const window = new LineWindow(range);
  window.push(text);
  window.end();
  return createLinesResult(window, file, {});
}

async function readFirstBytes(file: OpenedFile): Promise<Uint8Array> {
  for await (const chunk of file.chunks()) return chunk.subarray(0, SNIFF_BYTES);
  return new Uint8Array();
}

async function createImageResult(
  file: OpenedFile,
  mediaType: string,
  { path, signal }: { readonly path: string; readonly signal: AbortSignal },
): Promise<AgentToolResult> {
  const bytes = await readContent(file, signal);
  const { createImageContent } = await import("../documents/image_content.ts");
  const { description, block } = await createImageContent(bytes, { mediaType, path, signal });
  const content: ContentBlock[] = [{ type: "text", text: description }, block];
  return { content, details: { path: file.path, mediaType, bytes: bytes.length } };
}

/** Maximum size of images and UTF-16 text, which are read at once. */
const MAX_BUFFERED_BYTES = 100_000_000;

async function readContent(file: OpenedFile, signal?: AbortSignal): Promise<Uint8Array> {
  const bytes = await readAllBytes(file, {
    maxBytes: MAX_BUFFERED_BYTES,
    ...(signal && { signal }),
  });
  if (bytes) return bytes;
  throw new BadRequestError(
    `The file has ${formatNumber(file.size)} bytes; at most ${
      formatNumber(MAX_BUFFERED_BYTES)
    } can be read at once`,
  );
}

interface ReadOptions {
  readonly signal: AbortSignal;
  readonly utf16: string | undefined;
}

async function readLines(
  kit: ToolKit,
  file: OpenedFile,
  range: LineRange,
  { signal, utf16 }: ReadOptions,
): Promise<AgentToolResult> {
  const window = new LineWindow(range);
  if (utf16 !== undefined || file.size <= MAX_COUNTED_BYTES) {
    const bytes = await readContent(file, signal);
    window.push(new TextDecoder(utf16 ?? "utf-8").decode(bytes));
    window.end();
    await kit.seenFiles.record(file.path, bytes);
    return createLinesResult(window, file, { hash: await hashContent(bytes) });
  }
  const decoder = new TextDecoder();
  for await (const chunk of file.chunks(signal)) {
    window.push(decoder.decode(chunk, { stream: true }));
    if (window.isFull) return createLinesResult(window, file, {});
  }
  window.end();
  return createLinesResult(window, file, {});
}

function createLinesResult(
  window: LineWindow,
  file: OpenedFile,
  extra: { readonly hash?: string },
): AgentToolResult {
  const { firstLine, lines, isFull, totalLines } = window;
  const details = { path: file.path, bytes: file.size, ...extra };
  if (totalLines === 0) return textResult("[The file is empty]", details);
  if (lines.length === 0) {
    return textResult(
      `[Line ${firstLine} does not exist: the file has ${formatNumber(totalLines ?? 0)} lines]`,
      details,
    );
  }
  const lastLine = firstLine + lines.length - 1;
  const isComplete = firstLine === 1 && !isFull;
  const total = totalLines === undefined ? "" : ` of ${formatNumber(totalLines)}`;
  const continuation = isFull ? `; continue with offset ${lastLine + 1}` : "";
  const notice = isComplete ? "" : `\n[Lines ${firstLine}–${lastLine}${total}${continuation}]`;
  return textResult(lines.join("\n") + notice, { ...details, firstLine, lastLine });
}
