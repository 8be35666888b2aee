/**
 * Base URLs of APIs whose paths begin with a version.
 *
 * @module
 */

import type { OutgoingRequest } from "./provider.ts";
import type { WarningSink } from "./request/warnings.ts";

/** The base URL of an API, which may lack the version, as in `https://host` for `https://host/v1`. */
export class VersionedUrl {
  #url: string;
  readonly #version: string;

  /** Creates the URL of an API; `version` is a path such as `/v1`. */
  constructor(baseUrl: string, version: string) {
    this.#url = baseUrl;
    this.#version = version;
  }

  /** Returns the URL of a path; for a base URL without any path also the URL with the version, to be tried next. */
  resolve(path: string, sink: WarningSink): Pick<OutgoingRequest, "url" | "fallback"> {
    const baseUrl = this.#url;
    const url = baseUrl + path;
    if (!/^https?:\/\/[^/?#]+$/.test(baseUrl)) return { url };
    const onUsed = () => {
      this.#url = baseUrl + this.#version;
      const message = `Add ${this.#version} to the baseUrl: the server has its API there`;
      sink.warning("base_url_without_path", message);
    };
    return { url, fallback: { url: baseUrl + this.#version + path, onUsed } };
  }
}
