import { hash } from 'node:crypto';
import type { NewPet } from './schemas.ts';

/** SHA-256 of what a create asks for, base64url: two inputs that are parsed alike have one. */
export const fingerprint = ({ name, categoryId, status }: NewPet): string =>
  hash('sha256', JSON.stringify([name, categoryId, status ?? null]), 'base64url');
