/**
 * The main module of the process that reads one PDF document.
 *
 * @module
 */

import { pdfProcessMain } from "./pdf_process.ts";

await pdfProcessMain();
