/**
 * Files of the Hugging Face Hub.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";

/** A file of a repository of the hub. */
export interface HubFile {
  /** Owner and name of the repository: `Qwen/Qwen3-4B-GGUF`. */
  readonly repository: string;
  /** Path of the file in the repository. */
  readonly file: string;
  /** Commit, branch or tag. Default: `main`. */
  readonly revision?: string | undefined;
  /** SHA-256 of the content, in hexadecimal. Default: the one that the hub reports. */
  readonly sha256?: string | undefined;
  /** Size in bytes. Default: the one that the hub reports. */
  readonly size?: number | undefined;
}

/** The hub that is used unless `HF_ENDPOINT` has another one. */
export const DEFAULT_ENDPOINT = "https://huggingface.co";

const PREFIX = "hf:";
const NAME = /^[A-Za-z0-9][\w.-]*$/;
const MODEL_FILE = /\.gguf$/i;
/** The end of the name of a model in several parts, as `llama-gguf-split` writes it. */
const MODEL_PART = /-\d{5}-of-\d{5}\.gguf$/i;

/** Whether a model is named by its place on the hub. */
export function isHubName(name: string): boolean {
  return name.startsWith(PREFIX);
}

/**
 * Parses the name of a file on the hub: `hf:OWNER/REPOSITORY/FILE.gguf`, optionally with `@REVISION` at the end.
 *
 * @throws {BadRequestError} If it has another form, or names a part of a model, which could not be loaded.
 */
export function parseHubName(name: string): HubFile {
  const [path = "", revision, ...rest] = name.slice(PREFIX.length).split("@");
  const [owner = "", repository = "", ...file] = path.split("/");
  const names = [owner, repository, ...file, ...(revision === undefined ? [] : [revision])];
  if (MODEL_PART.test(path)) {
    throw new BadRequestError(
      `Cannot use "${name}": it is a part of a model; download all of them, join them with ` +
        "llama-gguf-split --merge, and import the file with: swink models local import FILE",
    );
  }
  const isFile = file.length > 0 && MODEL_FILE.test(path);
  if (isFile && rest.length === 0 && names.every((part) => NAME.test(part))) {
    return {
      repository: `${owner}/${repository}`,
      file: file.join("/"),
      ...(revision !== undefined && { revision }),
    };
  }
  throw new BadRequestError(
    `Invalid model "${name}": use hf:OWNER/REPOSITORY/FILE.gguf or …FILE.gguf@REVISION`,
  );
}

/**
 * Returns the URL of a file.
 *
 * @throws {BadRequestError} If the endpoint is no URL of HTTP.
 */
export function toHubUrl({ repository, file, revision = "main" }: HubFile, endpoint: string): URL {
  const base = endpoint.replace(/\/+$/, "");
  const path = [...repository.split("/"), "resolve", revision, ...file.split("/")];
  try {
    const url = new URL(`${base}/${path.map(encodeURIComponent).join("/")}`);
    if (url.protocol === "https:" || url.protocol === "http:") return url;
  } catch {
    // The error below names the variable.
  }
  throw new BadRequestError(
    `HF_ENDPOINT is "${endpoint}"; set it to the URL of a hub, or unset it`,
  );
}
