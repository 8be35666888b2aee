/**
 * The routes of the built-in page.
 *
 * @module
 */

import type { Handle } from "../operations/call.ts";
import type { Route } from "../operations/routes.ts";
import { PAGE_HTML } from "./page_html.ts";
import { PAGE_SCRIPT } from "./page_script.ts";
import { PAGE_STYLE } from "./page_style.ts";

/** Allows the files of the page and requests to the server only: neither inline code nor other hosts. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

function createHandler(content: string, type: string): Handle {
  return () =>
    new Response(content, {
      headers: {
        "content-type": `${type}; charset=utf-8`,
        "content-security-policy": POLICY,
        "cache-control": "no-cache",
      },
    });
}

/** The page, its script and its style. They have nothing of a session and need no token, which the page asks for. */
export const PAGE_ROUTES: readonly Route[] = [
  {
    method: "GET",
    path: "/",
    name: "getPage",
    summary: "Returns a page to watch and use sessions.",
    access: "public",
    responses: { 200: "page" },
    handle: createHandler(PAGE_HTML, "text/html"),
  },
  {
    method: "GET",
    path: "/page.js",
    name: "getPageScript",
    summary: "Returns the script of the page.",
    access: "public",
    responses: { 200: "script" },
    handle: createHandler(PAGE_SCRIPT, "text/javascript"),
  },
  {
    method: "GET",
    path: "/page.css",
    name: "getPageStyle",
    summary: "Returns the style of the page.",
    access: "public",
    responses: { 200: "style" },
    handle: createHandler(PAGE_STYLE, "text/css"),
  },
];
