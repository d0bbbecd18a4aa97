import type { SpooledFile } from '../../http/upload.ts';
import type { FormFields } from './formFields.ts';

/** A request body that is streamed to the procedure, or stored outside of memory. */
export class Upload {
  /** The body as the procedure receives it. For a form with streamed files, the files. */
  readonly content: unknown;
  /** For a form with streamed files, its text fields. */
  readonly fields: FormFields | undefined;
  readonly #close: (() => Promise<unknown>) | undefined;

  constructor(content: unknown, fields?: FormFields, close?: () => Promise<unknown>) {
    this.content = content;
    this.fields = fields;
    this.#close = close;
  }

  /** Releases the body and its files. Called when the call has ended. */
  close(): void {
    // A file that cannot be deleted is left in the temporary directory.
    this.#close?.().catch(() => {});
  }
}

/** Deletes all files, even if the deletion of one fails. */
export const removeAll = (files: readonly SpooledFile[]): Promise<unknown> =>
  Promise.allSettled(files.map((file) => file.remove()));
