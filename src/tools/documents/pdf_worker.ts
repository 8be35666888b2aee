/**
 * Worker that extracts the text of PDF documents, so that a document that takes too long can be given up.
 *
 * @module
 */

import type { extractText, getDocumentProxy, getResolvedPDFJS } from "unpdf";
import { BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";
import { getBuiltinModule } from "../../platform/builtin_modules.ts";
import { getParentThread, READY_MESSAGE } from "../../platform/worker.ts";
import { loadNpmPackage } from "./npm_package.ts";

/** The used part of `unpdf`. */
interface PdfPackage {
  readonly getDocumentProxy: typeof getDocumentProxy;
  readonly getResolvedPDFJS: typeof getResolvedPDFJS;
  readonly extractText: typeof extractText;
}

/** Message to the worker: the content of a document. */
export interface PdfRequest {
  /** Content of the file. */
  readonly bytes: Uint8Array;
}

/** Reply of the worker: the texts of the pages, or the reason why the document or the package cannot be read. */
export type PdfReply =
  | {
    readonly type: "pages";
    readonly pages: readonly string[];
    /** Encodings of Chinese, Japanese or Korean fonts whose text is missing. */
    readonly missingEncodings: readonly string[];
  }
  | { readonly type: "failed"; readonly reason: string }
  | { readonly type: "package_missing"; readonly reason: string };

/** Prints no warnings about damaged documents. */
const ERRORS_ONLY = 0;

/** A file of data that the package asks for. */
interface DataRequest {
  /** The kind of data: the option that has the URL of its directory. */
  readonly kind: string;
  /** Name of the file. */
  readonly filename: string;
}

const ENCODING_KIND = "cMapUrl";

/**
 * Creates the class that loads data for the package. The tables of encodings are not part of it: they are in `pdfjs-dist`,
 * which it finds on Node where that is installed. The text of a font whose table is missing is left out.
 */
function createDataLoader(missing: Set<string>): new (urls: DataUrls) => DataLoader {
  return class {
    readonly #urls: DataUrls;

    constructor(urls: DataUrls) {
      this.#urls = urls;
    }

    async fetch({ kind, filename }: DataRequest): Promise<Uint8Array> {
      try {
        const directory = this.#urls[kind];
        if (!directory) throw new BadRequestError(`There is no directory for ${filename}`);
        // deno-lint-ignore swink/untrusted-reads -- a file of the package
        return await getBuiltinModule("node:fs").promises.readFile(new URL(filename, directory));
      } catch (error) {
        if (kind === ENCODING_KIND) missing.add(filename.replace(/\.bcmap$/, ""));
        throw error;
      }
    }
  };
}

type DataUrls = Readonly<Record<string, string | null | undefined>>;

interface DataLoader {
  fetch(request: DataRequest): Promise<Uint8Array>;
}

const parent = getParentThread();

async function loadPackage(): Promise<PdfPackage> {
  try {
    const loaded = await loadNpmPackage("unpdf") as PdfPackage;
    await loaded.getResolvedPDFJS(); // which it would load for the first document
    return loaded;
  } finally {
    parent.postMessage(READY_MESSAGE);
  }
}

async function reply(loading: Promise<PdfPackage>, { bytes }: PdfRequest): Promise<PdfReply> {
  let loaded: PdfPackage;
  try {
    loaded = await loading;
  } catch (error) {
    return { type: "package_missing", reason: getErrorMessage(error) };
  }
  try {
    const missing = new Set<string>();
    const document = await loaded.getDocumentProxy(bytes, {
      verbosity: ERRORS_ONLY,
      BinaryDataFactory: createDataLoader(missing),
    });
    const { text } = await loaded.extractText(document, { mergePages: false });
    return { type: "pages", pages: text, missingEncodings: [...missing] };
  } catch (error) {
    return { type: "failed", reason: getErrorMessage(error) };
  }
}

const loading = loadPackage();
loading.catch(() => {}); // reported as a reply
parent.onMessage((message) => {
  void reply(loading, message as PdfRequest).then((reply) => parent.postMessage(reply));
});
