export { docsPage } from './docsPage.ts';
