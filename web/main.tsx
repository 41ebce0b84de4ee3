import '@mantine/core/styles.css';
import '@mantine/dropzone/styles.css';
import './shell/console.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { styleNonce } from './client/style-nonce.ts';
import { ConsoleApp } from './shell/console-app.tsx';

// Dialogs add a style element while they keep the page from scrolling (react-remove-scroll); it asks here for the nonce.
Object.assign(globalThis, { __webpack_nonce__: styleNonce() });

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no #root');
createRoot(root).render(
  <StrictMode>
    <ConsoleApp />
  </StrictMode>,
);
