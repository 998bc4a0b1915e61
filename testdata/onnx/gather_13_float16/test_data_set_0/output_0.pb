
Boutput_0JôÄ	¦„mƒƒÂCæAü€˜