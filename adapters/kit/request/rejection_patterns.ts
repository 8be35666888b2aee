/**
 * The wordings with which providers reject a part of a request, each with its origin.
 *
 * @module
 */

/**
 * Matches errors about the thinking of replies: "The encrypted content gAAA… could not be verified", "Item 'rs_1' of
 * type 'reasoning' was provided without its required following item" and "Items are not persisted when `store` is set to
 * false" of OpenAI, "Invalid `signature` in `thinking` block" of Anthropic and "Thought signature is not valid" of
 * Google.
 */
export const REJECTED_THINKING =
  /encrypted[ _]content|without its required (?:following|[`'"]?reasoning)|items are not persisted|invalid [`'"]?(?:signature|data)[`'"]? in [`'"]?(?:redacted_)?thinking|thought[ _]?signature|thinking[`'"]? blocks .*cannot be modified/i;

/**
 * Matches errors about images: "At least one of the image dimensions exceed max allowed size: 8000 pixels", "image
 * exceeds 5 MB maximum" and "Could not process image" of Anthropic and Bedrock, "The image data you provided does not
 * represent a valid image" and "You uploaded an unsupported image" of OpenAI, "Unable to process input image" of Google,
 * "Failed to load image or audio file" of llama.cpp and Ollama and the like.
 */
export const REJECTED_IMAGE =
  /media exceeds|image (?:dimensions|exceeds|data|format|size|type|mime|was specified|does not match|cannot be empty|is (?:not valid|invalid|corrupt)|(?:is )?too (?:large|small|big)|(?:length|width|height) and)|\bimage\.source|(?:process|decode|load|identify)(?: input| the| an)? image|(?:valid|unsupported|corrupt(?:ed)?) image\b|invalid '[^']*image_url|invalid_image|image_(?:parse|too)|resize the image|image: unknown format|support images (?:larger|smaller|of type)|(?:animated|gif|webp|svg|bmp|tiff|heic|avif) images? (?:is |are )?not supported/i;

/**
 * Matches errors about documents: "The PDF specified was not valid", "The PDF specified is password protected" and "A
 * maximum of 100 PDF pages may be provided" of Anthropic and Bedrock, and "The document has no pages" and "exceeds the
 * supported page limit of 1000" of Google; and of models that accept none: "This model doesn't support the document
 * field" of Bedrock, "This model does not support file content types" and "The file type you uploaded is not supported"
 * of OpenAI.
 */
export const REJECTED_DOCUMENT =
  /PDF (?:specified|pages|cannot be empty|is too large)|\b(?:pdf|document)\.source|supported page limit|support (?:the )?(?:documents?|pdfs?|file content)\b|file type you uploaded|invalid (?:file data|'[^']*file_data)|(?:process|decode|parse|read)(?: the| an?)? (?:PDF|document)\b|document has no pages|(?:corrupt(?:ed)?|password[- ]protected) (?:PDF|document)/i;

/**
 * Matches errors about audio, most of models that accept none: "Audio input modality is not enabled for this model" of
 * Google, "audio input is not supported" of llama.cpp and "No endpoints found that support input audio" of OpenRouter.
 */
export const REJECTED_AUDIO =
  /audio (?:inputs? )?(?:modality )?(?:is |are )?not (?:supported|enabled|valid)|support (?:the )?(?:input )?audio\b|(?:invalid|unsupported) audio\b|invalid '[^']*input_audio/i;

/**
 * Matches errors about the type of media, which they name: "Unsupported MIME type: application/rtf" of Google, and "it
 * has a mimeType parameter with value application/rtf, which is not supported" of Vertex AI.
 */
export const REJECTED_TYPE =
  /(?:unsupported mime[ _]?type:?|mime[ _]?type parameter with value) ?[`'"]?([\w.+-]+\/[\w.+-]+)/i;

/**
 * Matches errors about a URL that no longer leads to the image or document: "Error while downloading https://…" of
 * OpenAI, "Unable to download the file" and "This URL is disallowed by the website's robots.txt file" of Anthropic,
 * "Cannot fetch content from the provided URL", "Received 404 status code when fetching image from URL" and "Invalid or
 * unsupported file uri" of Google and "File could not be fetched from url" of Mistral; and of servers that download
 * nothing: "image URLs are not currently supported" of Ollama and "'url' field must be a base64 encoded image" of LM
 * Studio.
 */
export const REJECTED_URL =
  /while downloading|robots\.txt|fetching (?:the )?(?:image|file|url)\b|be fetched from|unsupported file uri|\bsource\.url\b|(?:unable to|cannot|could not|failed to) (?:download|fetch)|failed_to_download|image urls? (?:is |are )?not|support image urls?\b|must be a base64/i;

/**
 * Matches errors about a file of the provider that has expired: "You do not have permission to access the File abc or it
 * may not exist" of Google, after 48 hours, "File not found: file_1" of Anthropic and "No such File object: file-1" of
 * OpenAI.
 */
export const REJECTED_FILE =
  /access the file|no such file|file not found|\bfiles? (?:with id )?[['"`]?[\w-]+[\]'"`]? (?:was |were |is |has )?(?:not found|expired|deleted|does not exist)/i;

/** Matches errors about base64: "Invalid base64 image_url" of OpenAI and "Base64 decoding failed" of Google. */
export const REJECTED_BASE64 = /invalid base64|base64 decoding failed/i;

/**
 * Matches errors about the number of images and documents: "too many images and documents: 21 + 0 > 20", "Too much
 * media: 0 document pages + 107 images > 100" and the size of images "for many-image requests" of Anthropic and Bedrock,
 * "Too many images in request. Max is 10." of OpenAI, "At most 5 image(s) may be provided in one request" of vLLM, "this
 * model only supports one image" of Ollama, and "request contains 52 images, exceeding the maximum of 50" of others.
 */
export const TOO_MANY =
  /only supports one image|too (?:many|much) (?:images?|documents?|media)\b|many-image requests|at most \d+ (?:image|document)|contains \d+ (?:image|document)s/i;

/**
 * Matches errors about the size of a request, most of which is media: "Total image size is 50.6MB, which exceeds the
 * allowed limit of 50.0MB" of OpenAI, "Request payload size exceeds the limit: 20971520 bytes" and "The request's total
 * referenced files bytes are too large to be read" of Google, and all with the status 413, as of Anthropic.
 */
export const TOO_LARGE =
  /payload size|total (?:image |media )?size|total referenced files|request size cannot|answered 413/i;

/**
 * Matches errors of models that accept no images, with any status: "No endpoints found that support image input" of
 * OpenRouter, "image input is not supported" of llama.cpp, "Model does not support images" and "Vision add-on is not
 * loaded" of LM Studio, "is not a multimodal model" of vLLM, "Image input modality is not enabled for
 * models/gemma-3n-e4b-it" of Google, "image_url is only supported by certain models" of OpenAI, and "content must be a
 * string" of Groq.
 */
export const WITHOUT_VISION =
  /support (?:the )?image(?!\/| (?:url|type|format|mime|size|dimension|generation|output|edit)|s (?:larger|smaller|of type))|(?<!(?:animated|gif|webp|svg|bmp|tiff|heic|avif) )images? (?:inputs? )?(?:modality )?(?:is |are )?not (?:supported|enabled)|(?:vision|multimodal) (?:inputs? )?(?:is |are )not supported|not support (?:vision|multimodal)|not a (?:multimodal|vision) model|vision add-on is not loaded|required for image input|at most 0 image|only supports? text|image_url[`'"]? is (?:not|only) supported|unknown variant [`'"]?image_url|content[`'"]? ?(?:must be|: value must be) a string/i;

/**
 * Matches errors about media with any status: those of Ollama and llama.cpp, which answer as a server that fails, and
 * "No endpoints found that support input audio" of OpenRouter, with that of an unknown model.
 */
export const UNUSUAL_STATUS =
  /load image or audio file|image: unknown format|only supports one image|audio input is not supported|no endpoints found that support/i;

/**
 * Matches the error "Your organization must be verified to generate reasoning summaries" of OpenAI, about
 * `reasoning.summary`.
 */
export const REJECTED_SUMMARY = /reasoning summaries|reasoning\.summary/i;

/** Matches the largest number that such an error reports. */
export const MAX_NUMBER = /(?:>|at most|max(?:imum)?(?: is| of)?|up to)\s*(\d+)/i;
