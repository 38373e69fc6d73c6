from groundling.cli.main import main

main()
